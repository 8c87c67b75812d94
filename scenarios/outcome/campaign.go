package outcome

import "capcli"

// Campaign is what became of a planned training run.
type Campaign struct {
	Name    string         `json:"campaign"`
	Happens bool           `json:"happens"`
	Start   capcli.Time    `json:"start"`   // with the delay; planned, for its jobs may wait
	Delay   capcli.Seconds `json:"delay_s"` // against the plan
	Length  capcli.Seconds `json:"length_s"`
	GPUs    int            `json:"gpus"`
	Jobs    int            `json:"jobs"`
	Work    capcli.GPUTime `json:"work_gpu_hours"` // of the jobs, before the speed block
	Outside bool           `json:"outside_period,omitempty"`
}
