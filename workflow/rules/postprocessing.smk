# Systems made from a finished one: a new source tokenizer, or smaller vocabularies.


rule retokenize:
    input:
        train=RESULTS / "{corpus}/corpus/train.parquet",
        report=RESULTS / "{corpus}/corpus/report.json",
        base=base_files,
    output:
        [RESULTS / RUN / "translator" / name for name in plan.TRANSLATOR_FILES],
        run=RESULTS / RUN / "run.json",
    log:
        RESULTS / "logs/retokenize" / f"{RUN}.log",
    benchmark:
        RESULTS / "benchmarks/retokenize" / f"{RUN}.tsv"
    wildcard_constraints:
        system=systems_of("retokenize"),
    conda:
        "../../environment.yml"
    threads: SETTINGS.training.threads
    resources:
        mem_mb=2000,
        runtime=720,
        gpu=1,
    params:
        settings=lambda wildcards: as_json(plan.retokenize_settings(SETTINGS, run_of(wildcards))),
        base=lambda wildcards, input: Path(input.base[-1]).parent,
        corpus=lambda wildcards, input: Path(input.train).parent,
        folder=lambda wildcards, output: Path(output.run).parent,
    shell:
        "optok retokenize --settings {params.settings:q} --name {wildcards.system} --base {params.base:q}"
        " --corpus {params.corpus:q} --output {params.folder:q} 2>&1 | tee {log:q}"


rule restrict:
    input:
        train=RESULTS / "{corpus}/corpus/train.parquet",
        report=RESULTS / "{corpus}/corpus/report.json",
        base=base_files,
    output:
        [RESULTS / RUN / "translator" / name for name in plan.TRANSLATOR_FILES],
        run=RESULTS / RUN / "run.json",
    log:
        RESULTS / "logs/restrict" / f"{RUN}.log",
    benchmark:
        RESULTS / "benchmarks/restrict" / f"{RUN}.tsv"
    wildcard_constraints:
        system=systems_of("restrict"),
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
        gpu=0,
    params:
        settings=lambda wildcards: as_json(plan.restrict_settings(SETTINGS, run_of(wildcards))),
        base=lambda wildcards, input: Path(input.base[-1]).parent,
        corpus=lambda wildcards, input: Path(input.train).parent,
        folder=lambda wildcards, output: Path(output.run).parent,
    shell:
        "optok restrict --settings {params.settings:q} --name {wildcards.system} --base {params.base:q}"
        " --corpus {params.corpus:q} --output {params.folder:q} 2>&1 | tee {log:q}"
