package outcome

import (
	"fmt"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/workflow"
)

// Stages is what dependencies made of the jobs of a run.
type Stages struct {
	Dependent  int64           `json:"dependent_jobs"`              // that wait for others
	Held       int64           `json:"held_jobs"`                   // still held at the end, by others or by their sweep
	HeldMean   float64         `json:"held_mean_s"`                 // submission to readiness
	HeldP95    *capcli.Seconds `json:"held_p95_s"`                  // null if so many were held at the end that it is not known
	Cancelled  int64           `json:"cancelled_jobs"`              // because what they waited for failed
	Undone     capcli.GPUTime  `json:"cancelled_gpu_hours"`         // their work, which nobody did
	Failed     int64           `json:"failed_jobs"`                 // that ended in failure for good
	Retries    int64           `json:"retries"`                     // tries after the first
	Spoilt     capcli.GPUTime  `json:"failed_gpu_hours"`            // of all tries that failed
	EndedEarly int64           `json:"ended_early_jobs"`            // trials that their sweep ended
	Spared     capcli.GPUTime  `json:"spared_gpu_hours"`            // work that these did not have to do
	Missing    int64           `json:"unknown_dependencies"`        // on jobs that are not played; they count as satisfied
	Workflows  []Workflow      `json:"workflows"`                   // in order of their first job
	LeftOut    int             `json:"workflows_left_out,omitzero"` // further ones
}

// Workflow is the figures of all runs of one workflow. A run of it has ended when none of its jobs is open,
// and has ended well when none was cancelled, failed or could never run.
type Workflow struct {
	Name     string           `json:"workflow"`
	Runs     int64            `json:"runs"`
	Finished int64            `json:"finished"` // well
	Broken   int64            `json:"broken"`   // ended, but not well
	Open     int64            `json:"open"`
	Length   float64          `json:"length_mean_s"`        // begin to end, of those that ended well
	Longest  capcli.Seconds   `json:"length_max_s"`         // of those that ended well
	Least    float64          `json:"critical_path_mean_s"` // length if none of these jobs had waited
	Due      int64            `json:"with_deadline"`        // runs of which a job has a deadline
	Missed   int64            `json:"deadline_misses"`      // of Due, those of which a job missed it
	Used     capcli.GPUTime   `json:"gpu_hours"`
	Cost     *capcli.USD      `json:"cost_usd"` // of the GPUs held, at the prices of their pools
	OverCost int64            `json:"over_dollars"`
	Stages   []Stage          `json:"stages"`
	Faster   []workflow.Crash `json:"faster,omitempty"` // what makes a run end earlier, cheapest hour first
}

// Stage is the figures of one stage over all runs of its workflow. Means on the critical path are over the
// runs that ended well.
type Stage struct {
	Workflow     string         `json:"workflow"`
	Name         string         `json:"stage"`
	Jobs         int64          `json:"jobs"`
	Finished     int64          `json:"finished"`
	Failed       int64          `json:"failed"`
	Cancelled    int64          `json:"cancelled"`
	Retries      int64          `json:"retries"`
	EndedEarly   int64          `json:"ended_early"`
	Used         capcli.GPUTime `json:"gpu_hours"`
	Cost         *capcli.USD    `json:"cost_usd"`
	OverCost     int64          `json:"over_dollars"`
	Wait         float64        `json:"wait_mean_s"` // for GPUs, all waits, from readiness
	Due          int64          `json:"with_deadline"`
	Missed       int64          `json:"deadline_misses"`
	Critical     float64        `json:"critical_share"`       // of the runs, in which it is on the critical path
	CriticalWait float64        `json:"critical_wait_mean_s"` // waits on the critical path, a run
	Drag         float64        `json:"drag_mean_s"`          // how much earlier a run would end if the stage took no time
	Slack        float64        `json:"slack_mean_s"`         // how much later its jobs could end without making the run later
}

// StagesOf returns the counts of a run; nil if no job depends on another.
func StagesOf(r *simulate.StageResult) *Stages {
	if r == nil {
		return nil
	}
	s := &Stages{
		Dependent: r.Dependent, Held: r.Held, HeldMean: r.HeldTime.Mean, Cancelled: r.Cancelled, Undone: r.Undone, Failed: r.Failed,
		Retries: r.Retries, Spoilt: r.Spoilt, EndedEarly: r.EndedEarly, Spared: r.Spared, Missing: r.Missing, Workflows: []Workflow{},
	}
	s.HeldP95, _ = Quantile(&r.HeldTime, 95, r.HeldTime.P95)
	return s
}

// Notes tells what a reader of one run must know.
func (s *Stages) Notes() (out []string) {
	if s == nil {
		return nil
	}
	if s.Dependent > 0 {
		out = append(out, fmt.Sprintf("* %s %s for others, %s each on average before they were ready; their waits count from then",
			capcli.Grouped(s.Dependent), capcli.Agree(s.Dependent, "job waits", "jobs wait"), capcli.Seconds(s.HeldMean+0.5)))
	}
	if s.Held > 0 {
		out = append(out, fmt.Sprintf("%s %s still held at the end, because what they wait for had not happened", capcli.Grouped(s.Held), capcli.Agree(s.Held, "job was", "jobs were")))
	}
	if s.Cancelled > 0 {
		out = append(out, fmt.Sprintf("%s %s cancelled, because what they waited for failed: %.1f GPU-hours of work that nobody did",
			capcli.Grouped(s.Cancelled), capcli.Agree(s.Cancelled, "job was", "jobs were"), s.Undone.Hours()))
	}
	if s.Failed > 0 || s.Retries > 0 {
		out = append(out, fmt.Sprintf("* failures of stages: %s %s again, %s for good; %.1f GPU-hours went into tries that failed",
			capcli.Grouped(s.Retries), capcli.Agree(s.Retries, "try", "tries"), capcli.Grouped(s.Failed), s.Spoilt.Hours()))
	}
	if s.EndedEarly > 0 {
		out = append(out, fmt.Sprintf("* sweeps ended %s %s early, which spared %.1f GPU-hours", capcli.Grouped(s.EndedEarly), capcli.Plural(s.EndedEarly, "trial"), s.Spared.Hours()))
	}
	for i := range s.Workflows {
		if text := s.Workflows[i].slowest(); text != "" && i < mostSavings {
			out = append(out, text)
		}
	}
	if s.LeftOut > 0 {
		out = append(out, fmt.Sprintf("%s more workflows have no figures of their own", capcli.Grouped(int64(s.LeftOut))))
	}
	return out
}

// slowest says which stage keeps the workflow waiting for GPUs; "" if none does.
func (w *Workflow) slowest() string {
	var most *Stage
	for k := range w.Stages {
		if s := &w.Stages[k]; most == nil || s.CriticalWait > most.CriticalWait {
			most = s
		}
	}
	if w.Finished == 0 || most.CriticalWait < 1 {
		return ""
	}
	return fmt.Sprintf("* %s: of the stages on its critical path, %s waits longest for GPUs: %s a run of %s",
		w.Name, most.Name, capcli.Seconds(most.CriticalWait+0.5), capcli.Seconds(w.Length+0.5))
}
