"""What changes the springs of soft bodies during a run: creep, tears, holes and bonds, between runs of substeps."""
