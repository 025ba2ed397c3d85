// SPDX-License-Identifier: GPL-3.0-or-later
// Flamenco job type: the cases of a sweep, a task for each, then its table and contact sheet.
//
// Copy it to the folder `scripts` beside the Flamenco Manager. Make the plan with
//     blender --command softpressure sweep FILE.blend --set Ball.gauge_pressure=500,2000 --output FOLDER --plan
// into a folder that all workers see, and submit a job of this type with that folder and the number of cases. Each worker
// needs Blender with the extension. A task that is run twice, as its worker was lost, does no harm: a case is finished
// whole or not at all.

const JOB_TYPE = {
    label: "Soft Pressure Sweep",
    description: "Simulate every case of a sweep of settings",
    settings: [
        { key: "folder", type: "string", subtype: "dir_path", required: true,
          description: "Folder of the sweep, with its plan.json" },
        { key: "case_count", type: "int32", required: true, propargs: { min: 1 },
          description: "How many cases the plan has" },
    ]
};

function compileJob(job) {
    const { folder, case_count } = job.settings;
    if (!(case_count >= 1)) {
        throw new Error(`case_count is ${case_count}; a sweep has at least one case.`);
    }
    const collect = blenderTask("collect", ["sweep-collect", folder]);
    for (let number = 1; number <= case_count; number++) {
        const task = blenderTask(`case-${number}`, ["sweep-case", folder, String(number)]);
        job.addTask(task);
        collect.addDependency(task);
    }
    job.addTask(collect);
}

// A task that runs a command of this extension in Blender.
function blenderTask(name, words) {
    const task = author.Task(name, "blender");
    task.addCommand(author.Command("exec", {
        exe: "{blender}",
        args: ["--command", "softpressure"].concat(words),
    }));
    return task;
}
