# optok: how much does a tokenizer cost a translation system?  `snakemake --cores N`, or see README.md.
from snakemake.utils import min_version

min_version("9.27")


if not workflow.overwrite_configfiles:

    configfile: "config/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/corpora.smk"
include: "workflow/rules/tokenizers.smk"
include: "workflow/rules/training.smk"
include: "workflow/rules/postprocessing.smk"
include: "workflow/rules/evaluation.smk"
include: "workflow/rules/tracking.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        TABLE_FILES,
        RESULTS / "report.html",
        RESULTS / "tracking.json",
