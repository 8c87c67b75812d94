package outcome

import (
	"fmt"

	"capcli"
)

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
