package validate

import (
	"fmt"
	"math"

	"capcli"
)

const (
	fitsNearlyAll = 0.95 // share of the waiting in which jobs would have fitted, from which no GPUs were lacking
	fewWait       = 0.01 // share of jobs that wait over a minute in the replay, up to which it has no queue
	fitsMore      = 0.25 // recorded less simulated share from which equal quantiles may be chance
)

// conclude sets the verdict and its sentences.
func (v *validation) conclude() {
	r := &v.r
	r.Sentence = r.Text()
	recorded, simulated := r.WouldFit.Recorded, r.WouldFit.Simulated
	idle := v.waiting() <= fewWait
	switch {
	case idle && (recorded == nil || *recorded >= fitsNearlyAll || r.Recorded.Mean < 1):
		r.Verdict = notQueued
		r.Answer = "Not for lack of GPUs: no job waited, neither in the log nor in the replay."
		if recorded != nil {
			r.Answer = fmt.Sprintf("Not for lack of GPUs: in %.0f%% of the recorded waiting the job would have fitted into the free GPUs. "+
				"The waits (p95 %s) come from scheduling, start-up, holds or rules, which no model of the queue shows.", 100**recorded, seconds(r.Recorded.P95))
		}
		if r.CapacityFrom != "highest use" && r.HighestUse < r.Capacity*9/10 {
			r.Answer += fmt.Sprintf(" This depends on the capacity: of %s, at most %s were in use at once.", unitText(r.Capacity, v.past), unitText(r.HighestUse, v.past))
		}
		return
	case r.Distance <= r.Floor.Distance:
		r.Verdict = atFloor
		r.Answer = fmt.Sprintf("As near as can be measured: the quantiles of the waits differ by a factor of %.2f, and 30 s of jitter in the run times alone would cause %.2f.",
			math.Pow(10, r.Distance), math.Pow(10, r.Floor.Distance))
	default:
		r.Verdict = Off
		r.Answer = fmt.Sprintf("Simulated waits are %s (quantiles, on average; 30 s of jitter in the run times alone would cause a factor of %.2f).",
			offText(&r.Fidelity), math.Pow(10, r.Floor.Distance))
	}
	if recorded != nil && simulated != nil && *recorded > *simulated+fitsMore {
		r.Answer += fmt.Sprintf(" In %.0f%% of the recorded waiting the job would have fitted, in the replay in %.0f%%: ", 100**recorded, 100**simulated)
		if r.Verdict == atFloor {
			r.Answer += "errors that cancel may hide in equal quantiles."
		} else {
			r.Answer += "holds, limits or outages, which the policy does not know."
		}
	}
}

// waiting is the share of the measured jobs that wait over a minute in the replay.
func (v *validation) waiting() float64 {
	n := 0
	for i := range v.log.Jobs {
		if q := v.log.Jobs[i].Queued; q >= v.from && v.starts[i] > q+60 {
			n++
		}
	}
	return float64(n) / float64(v.r.Fidelity.Jobs)
}

// offText says by which factor simulated waits are wrong at the five quantiles, and which way.
func offText(f *Fidelity) string {
	a, b := f.Recorded.quantiles(), f.Simulated.quantiles()
	var signed float64
	for i := range a {
		signed += (logWait(b[i]) - logWait(a[i])) / float64(len(a))
	}
	factor := math.Pow(10, f.Distance)
	switch {
	case signed < -0.9*f.Distance:
		return fmt.Sprintf("%.2g times too short", factor)
	case signed > 0.9*f.Distance:
		return fmt.Sprintf("%.2g times too long", factor)
	}
	return fmt.Sprintf("off by a factor of %.2g, some too short and some too long", factor)
}

// Text is the fidelity in one sentence.
func (f *Fidelity) Text() string {
	text := fmt.Sprintf("On this log's own past, the p95 wait is %s simulated and %s recorded", seconds(f.Simulated.P95), seconds(f.Recorded.P95))
	if f.Recorded.Mean > 0 {
		text += fmt.Sprintf(" (mean %+.0f%%)", math.Round(100*(f.Simulated.Mean/f.Recorded.Mean-1))+0) // never -0
	}
	return text + fmt.Sprintf("; whether a job waits over an hour is right for %.0f%% of jobs (always guessing the more frequent answer: %.0f%%).",
		100*(1-f.Brier), 100*max(f.OverHour, 1-f.OverHour))
}

// seconds writes a wait in seconds, with its thousands apart.
func seconds(s capcli.Seconds) string { return capcli.Grouped(int64(s)) + " s" }

// SizeUnit is what the groups by size count.
func (r *Result) SizeUnit() string {
	if r.Scale > 1 {
		return "whole GPUs"
	}
	return r.Unit
}

// round3 rounds to three decimals.
func round3(v float64) float64 { return math.Round(1000*v) / 1000 }

// rounded is a cell of a share that may be unknown.
func rounded(v *float64) any {
	if v == nil {
		return nil
	}
	return round3(*v)
}

// Text names a choice.
func (c Choice) Text() string {
	text := c.Policy
	for _, part := range []struct {
		is   bool
		name string
	}{{c.Perfect, "true run times"}, {c.Skip, "passing over"}, {c.TenantCaps, "caps of tenants"}} {
		if part.is {
			text += ", " + part.name
		}
	}
	if c.Delay > 0 {
		text += fmt.Sprintf(", no start within %s", c.Delay)
	}
	return text + ", " + capcli.Grouped(c.Capacity)
}

// Text says what was chosen and whether it holds.
func (f *Fit) Text() string {
	if f.Short {
		return fmt.Sprintf("Nothing is chosen: the earlier half is shorter than two weeks, and what is nearer there than %s may be so by one outage.", f.Asked.Text())
	}
	if f.Chosen.Text() == f.Asked.Text() {
		return fmt.Sprintf("Of %d choices of policy and settings none was surely nearer on the earlier half than %s.", f.Tried, f.Asked.Text())
	}
	text := fmt.Sprintf("Nearest on the earlier half of %d choices: %s. On the later half its qdist is %.3f, and %.3f with %s",
		f.Tried, f.Chosen.Text(), f.Chosen.Later.Distance, f.Asked.Later.Distance, f.Asked.Text())
	if !f.Holds {
		return text + ": the choice does not hold, so do not use it."
	}
	return text + "."
}
