package trace

import "capcli"

func init() {
	addTable("openb", "Alibaba openb 2023 pod list (Weng et al., ATC'23): pods with shares of GPUs", tableFormat{
		needs: []string{"name", "num_gpu", "gpu_milli", "creation_time", "deletion_time", "scheduled_time"},
		sniff: func(head []byte) bool {
			return headHas(head, "name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")
		},
		prepare: checkPodTimes,
		columns: []column{
			{"creation_time", readSubmitOrUnknown},
			{"scheduled_time", readStart},
			{"deletion_time", readEnd},
			{"", settlePodTimes},
			{"num_gpu", readGPUs},
			{"gpu_milli", readPodShare},
			{"cpu_milli", readPodCPUs},
			{"memory_mib", readPodMemory},
			{"name", readID},
			{"gpu_spec", readModel},
			{"qos", readClass},
			{"pod_phase", readPodPhase},
		},
	})
}

// checkPodTimes returns an error for the variant of the list without times.
func checkPodTimes(t *tableReader, _ []byte) error {
	if t.col("creation_time", "deletion_time") < 0 {
		return t.r.fault(t.line, "", "this pod list has no times (creation_time, deletion_time, scheduled_time), so it cannot be replayed; it has "+t.headerText(),
			"use the variant of the list with eleven columns")
	}
	return nil
}

// settlePodTimes sets the run time of a pod: from scheduled_time, else from its creation, to
// its deletion. A pod that is pending, or was not deleted before the list was made, has no
// run time and is rejected.
func settlePodTimes(t *tableReader, job *capcli.Job, _ []byte) flaw {
	switch {
	case !job.Start.IsKnown() && string(t.cell(t.col("pod_phase"))) == "Pending":
		return "never scheduled"
	case !job.End.IsKnown():
		return "not deleted yet: run time unknown"
	case !job.Start.IsKnown():
		job.Start = job.Submit
		t.r.Assume("no scheduled_time: ran from its creation")
	}
	if job.Submit.IsKnown() && job.End < job.Start {
		return "end before start"
	}
	if !isOutOfRange(job.Start) && !isOutOfRange(job.End) {
		job.Run = capcli.Seconds(job.End - job.Start)
	}
	return flawless
}

// readPodShare sets the share of a GPU, in thousandths, of a pod that asks for one GPU.
func readPodShare(_ *tableReader, job *capcli.Job, cell []byte) flaw {
	milli, bad := optional(cell, 1)
	if job.GPUs == 1 && milli > 0 && milli < 1000 {
		job.GPUMilli = int(milli)
	}
	return bad
}

func readPodCPUs(_ *tableReader, job *capcli.Job, cell []byte) (bad flaw) {
	job.CPUMilli, bad = optional(cell, 1)
	return bad
}

func readPodMemory(_ *tableReader, job *capcli.Job, cell []byte) (bad flaw) {
	job.MemMiB, bad = optional(cell, 1)
	return bad
}

func readPodPhase(_ *tableReader, job *capcli.Job, cell []byte) flaw {
	job.State = podState(cell)
	return flawless
}

// podState converts a Kubernetes phase to Slurm's state, or "" for a phase such as Running,
// which does not say how the pod ended.
func podState(phase []byte) string {
	switch string(phase) {
	case "Succeeded":
		return "COMPLETED"
	case "Failed":
		return "FAILED"
	}
	return ""
}
