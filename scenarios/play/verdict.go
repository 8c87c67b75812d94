package play

import (
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/outcome"
)

// CheckStarted refuses cases in which no job of a log started in any run: their result would be a
// table of zeros. It fails with *capcli.InputError.
func CheckStarted(cases []*Case, runs [][]*Run) error {
	for i, c := range cases {
		if !c.FromLog() || slices.ContainsFunc(runs[i], func(r *Run) bool { return r.Result.Started() > 0 }) {
			continue
		}
		res := runs[i][0].Result
		why := "they wait, for capacity is there too late or never free"
		if len(res.Refused) > 0 {
			why = fmt.Sprintf("the first, %s, %s", res.Refused[0].ID, res.Refused[0].Why)
		}
		return &capcli.InputError{
			File: c.Source.Name, Text: fmt.Sprintf("expected jobs that can start on %s, found none of %s: %s", c.Label(), capcli.Grouped(res.Jobs.Read), why),
			Hint: "--set capacity[0].gpus=N gives more room; capcli scenarios init --trace " + capcli.ShellWord(c.Source.Name) + " --out plan.yaml writes a scenario that fits the log",
		}
	}
	return nil
}

// Conditions are conditions that make a command fail if they are true of a run.
type Conditions struct {
	FailIf []string // conditions such as "wait_p95>30m"
	Limits bool     // also fail if a limit of the scenario does not hold
}

// Check refuses invalid conditions. It fails with *capcli.RequestError.
func (q *Conditions) Check() error {
	for _, text := range q.FailIf {
		if _, err := outcome.ParseCheck(text); err != nil {
			return &capcli.RequestError{Field: "fail-if", Text: ": " + err.Error(), Hint: "for example --fail-if 'wait_p95>30m'"}
		}
	}
	return nil
}

// Judge returns an error for the first condition that is true of a run, or unknown; else for the
// first run that lacks jobs; else nil. Errors are *capcli.ResultError.
func (q *Conditions) Judge(runs [][]*Run) error {
	var missing error
	for _, r := range slices.Concat(runs...) {
		if err := q.test(r); err != nil {
			return err
		}
		if missing == nil {
			missing = r.MissingJobs()
		}
	}
	return missing
}

// test tests the conditions on a run, and the limits if q.Limits is set.
func (q *Conditions) test(r *Run) error {
	c := r.Case
	fail := func(format string, args ...any) error {
		return &capcli.ResultError{Kind: capcli.ConditionTrue, Text: fmt.Sprintf(format, args...)}
	}
	for _, text := range q.FailIf {
		check, err := outcome.ParseCheck(text)
		if err != nil {
			return err
		}
		switch holds, known := check.Holds(&r.Outcome); {
		case !known:
			return fail("--fail-if %s: this figure is not known for %s%s", text, c.Label(), r.whyUnknown())
		case holds:
			return fail("%s is true of %s: it is %s", check, c.Label(), r.MetricText(check.Metric))
		}
	}
	if !q.Limits {
		return nil
	}
	for _, limit := range c.Scenario.Limits {
		switch holds, known := limit.Holds(&r.Outcome); {
		case !known:
			return fail("whether the limit %s is held by %s is not known%s", limit, c.Label(), r.whyUnknown())
		case !holds:
			return fail("the limit %s is not held by %s: it is %s", limit, c.Label(), r.MetricText(limit.Metric))
		}
	}
	return nil
}

// whyUnknown returns the reason why a figure of the run is unknown; "" where no reason is known.
func (r *Run) whyUnknown() string {
	switch {
	case r.Result.Started() == 0:
		return ": no job started"
	case r.Result.Jobs.Finished == 0:
		return ": no job finished"
	case !r.Priced():
		return ": no price is stated for " + strings.Join(r.Case.Scenario.Unpriced(), ", ")
	}
	return ""
}

// MissingJobs returns a *capcli.ResultError if the result of the run lacks jobs: jobs that can
// never run, that still waited when nothing more could happen, or that a cut log lost. It returns
// nil if the run has all jobs.
func (r *Run) MissingJobs() error {
	j, name := &r.Jobs, r.Case.Label()
	missing := func(text, hint string) error {
		return &capcli.ResultError{Kind: capcli.Incomplete, Text: text, Hint: hint}
	}
	switch {
	case j.Unplaceable > 0:
		first := r.Result.Refused[0]
		return missing(fmt.Sprintf("%s of %s can never run on %s; the first is job %s: %s", capcli.Grouped(j.Unplaceable), outcome.JobsText(float64(j.Read)), name, first.ID, first.Why),
			"the result has all other jobs; -o json lists the first of these under unplaceable_jobs")
	case r.Result.Endless:
		return missing(fmt.Sprintf("fifty years after the last job arrived %s still waited on %s and %s ran; the run was ended there", capcli.Grouped(j.Waiting), name, capcli.Grouped(j.Running)),
			"their work may be lost as often as it is done: look at failures, hazard and preemption")
	case j.Waiting > 0 && !r.Result.Stopped:
		return missing(fmt.Sprintf("%s still waited on %s when nothing more could happen", outcome.JobsText(float64(j.Waiting)), name),
			"capacity ended before they could start: look at from, until and spot availability")
	case r.Cut:
		return missing("the trace was cut short; jobs after its end are missing from the result", "")
	}
	return nil
}
