package trace

import "capcli"

func init() {
	addTable("pai2020", "Alibaba PAI 2020 in its simulator's columns (Weng et al., NSDI'22)", tableFormat{
		needs: []string{"job_id", "submit_time", "num_gpu", "duration"}, lifts: true,
		sniff: func(head []byte) bool {
			return headHas(head, "job_id", "submit_time", "num_gpu", "duration") && !headHas(head, "iterations")
		},
		columns: []column{
			{"submit_time", readSubmit},
			{"duration", readRun},
			{"num_inst", readInstances},
			{"num_gpu", readInstanceGPUs},
			{"num_cpu", readInstanceCPUs},
			{"", settleGang},
			{"job_id", readID},
			{"user", readTenant},
			{"gpu_type", readPAIModel},
		},
	})
}

// Indices in tableReader.kept of the values from which settleGang computes the GPUs.
const (
	keptInstances = iota
	keptMilli     // thousandths of a GPU for each instance
)

func readInstances(t *tableReader, _ *capcli.Job, cell []byte) (bad flaw) {
	n := int64(1)
	if len(trim(cell)) > 0 {
		n, bad = count(cell)
	}
	if bad == flawless && n > maxGPUs {
		bad = "over 10 million"
	}
	t.kept[keptInstances] = max(n, 1)
	return bad
}

func readInstanceGPUs(t *tableReader, _ *capcli.Job, cell []byte) (bad flaw) {
	t.kept[keptMilli], bad = optional(cell, 1000)
	if bad == flawless && t.kept[keptMilli] > maxGPUs*1000 {
		bad = "over 10 million"
	}
	return bad
}

func readInstanceCPUs(t *tableReader, job *capcli.Job, cell []byte) flaw {
	cpus, bad := optional(cell, 1000)
	if bad == flawless && cpus > 1e12 {
		bad = tooLarge
	}
	job.CPUMilli = cpus * t.kept[keptInstances]
	return bad
}

// settleGang sets the GPUs of a job to the sum over its instances, which start together and
// so are one job. A sum over one GPU is rounded up to whole GPUs, because a capcli.Job holds
// either a share of one GPU or whole GPUs.
func settleGang(t *tableReader, job *capcli.Job, _ []byte) flaw {
	total := t.kept[keptInstances] * t.kept[keptMilli]
	switch {
	case total > 0 && total < 1000:
		job.GPUs, job.GPUMilli = 1, int(total)
	case total%1000 == 0:
		job.GPUs = int(total / 1000)
	default:
		job.GPUs = int((total + 999) / 1000)
		t.r.Assume("shares of GPUs over one GPU: rounded up to whole GPUs")
	}
	return flawless
}

func readPAIModel(t *tableReader, job *capcli.Job, cell []byte) flaw {
	switch model := blankIfUnknown(cell); string(model) {
	case "MISC": // several rare models, which the log does not tell apart
		t.r.Assume("gpu_type MISC: taken as any model")
	case "CPU":
	default:
		job.GPUModel = t.intern(model)
	}
	return flawless
}
