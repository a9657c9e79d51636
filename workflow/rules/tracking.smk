# Tracking: the runs in MLflow. The table and the page never wait for it, and a failure is only recorded.


rule track:
    input:
        [RESULTS / run.folder / "scores.json" for run in ALL_RUNS],
        [RESULTS / run.folder / "run.json" for run in ALL_RUNS],
    output:
        RESULTS / "tracking.json",
    log:
        RESULTS / "logs/track.log",
    benchmark:
        RESULTS / "benchmarks/track.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=60,
        gpu=0,
    params:
        settings=TABLE_SETTINGS,
        results=RESULTS,
    shell:
        "optok track --settings {params.settings:q} --results {params.results:q} --keep-going 2>&1 | tee {log:q}"
