package validate

import (
	"fmt"
	"io"
	"strings"

	"capcli"
)

// Schema is the schema of Result.
const Schema = "capcli/validate/v1"

// Result says how far a simulation of a log is from what the log records. Lengths of time are
// seconds; a field named _s of an instant counts from the first submission.
type Result struct {
	Schema  string `json:"schema"`
	Input   string `json:"input"`
	Policy  string `json:"policy"`
	Perfect bool   `json:"perfect_estimates"`
	Unit    string `json:"unit"` // of capacity and sizes
	Scale   int64  `json:"units_each"`

	Capacity     int64          `json:"capacity"`
	CapacityFrom string         `json:"capacity_from"` // given, file, or highest use: a lower bound
	HighestUse   int64          `json:"highest_use"`
	Jobs         int            `json:"jobs"`
	TooLarge     int            `json:"too_large"` // jobs larger than the capacity, left out
	TooLargeJobs []string       `json:"too_large_jobs"`
	WithoutStart int            `json:"without_start"` // jobs without a recorded start, left out
	WithoutUnits int            `json:"without_units"` // jobs that hold nothing that is counted, left out
	Eligible     int            `json:"eligible_later"`
	First        capcli.Time    `json:"first_submit"`
	From         capcli.Time    `json:"replayed_from"`
	Running      int            `json:"running"` // jobs that ran at From and hold their units
	WarmUp       capcli.Seconds `json:"warm_up_s"`

	Verdict  Verdict `json:"verdict"`
	Answer   string  `json:"answer"`   // the verdict in a sentence
	Sentence string  `json:"sentence"` // the measures in a sentence

	Fidelity
	Floor      Floor    `json:"floor"`
	LimitsRuns Fidelity `json:"limits_are_runs"` // with true run times in place of limits
	Later      Part     `json:"later_part"`

	// Hindsight: these use the recorded starts.
	WouldFit     WouldFit      `json:"would_fit_share"`
	Overtaken    []Held        `json:"overtaken"`
	NoStarts     []Pause       `json:"no_starts"`            // jobs of two tenants or more would have fitted
	NoStartsOne  []Pause       `json:"no_starts_one_tenant"` // jobs of one tenant or more would have fitted
	Explanations []Explanation `json:"explained"`

	Groups
	Fit   *Fit     `json:"fit,omitempty"`
	Notes []string `json:"notes"`

	rows []JobRow
}

// Verdict is what the comparison comes to.
type Verdict string

// The verdicts.
const (
	notQueued Verdict = "not for lack of GPUs" // jobs would have fitted while they waited
	atFloor   Verdict = "as near as can be told"
	Off       Verdict = "off"
)

// WouldFit is the share of all waiting in which the waiting job would have fitted into what was
// free. It is null where nobody waited.
type WouldFit struct {
	Recorded  *float64 `json:"recorded"`
	Simulated *float64 `json:"simulated"`
}

// Held is an overtaken job: see Overtaking.
type Held struct {
	ID     string         `json:"job_id"`
	Tenant string         `json:"tenant"`
	By     int            `json:"by"` // jobs that overtook it
	Wait   capcli.Seconds `json:"wait_s"`
	Until  capcli.Time    `json:"not_eligible_before"`
	UntilS capcli.Seconds `json:"not_eligible_before_s"`
}

// Pause is a time in which nothing started although waiting jobs would have fitted.
type Pause struct {
	From  capcli.Time    `json:"from"`
	To    capcli.Time    `json:"to"`
	FromS capcli.Seconds `json:"from_s"`
	ToS   capcli.Seconds `json:"to_s"`
}

// Explanation is a replay that knows something of the recorded starts.
type Explanation struct {
	With string `json:"with"` // no_starts, overtaken, ...
	Fidelity
}

// Part is the fidelity on the later half of the jobs, from the state recorded at its begin.
type Part struct {
	From    capcli.Time `json:"from"`
	Running int         `json:"running"` // jobs that ran at From and hold their units
	Waiting int         `json:"waiting"` // jobs that waited at From, ahead of all later ones
	Fidelity
	Floor Floor `json:"floor"`
}

// JobRow is a job of the replay. Instants count from the first submission.
type JobRow struct {
	ID        string
	Eligible  capcli.Seconds
	Recorded  capcli.Seconds // start
	Simulated capcli.Seconds // start
	Fits      capcli.Seconds // part of its recorded wait in which it would have fitted
	By        int            // jobs that overtook it
}

// Rows returns the jobs in the order of the queue.
func (r *Result) Rows() []JobRow { return r.rows }

// jobColumns is the header of WriteJobs. Instants are seconds since the first submission.
const jobColumns = "job_id,eligible_s,recorded_start_s,simulated_start_s,fits_s,overtaken_by\n"

// WriteJobs writes one CSV row a job. guard escapes texts that a reader of CSV could take for
// something else.
func WriteJobs(w io.Writer, rows []JobRow, guard func(string) string) error {
	if _, err := io.WriteString(w, jobColumns); err != nil {
		return err
	}
	for i := range rows {
		r := &rows[i]
		id := guard(r.ID)
		if strings.ContainsAny(id, ",\"\n\r") {
			id = `"` + strings.ReplaceAll(id, `"`, `""`) + `"`
		}
		if _, err := fmt.Fprintf(w, "%s,%d,%d,%d,%d,%d\n", id, r.Eligible, r.Recorded, r.Simulated, r.Fits, r.By); err != nil {
			return err
		}
	}
	return nil
}

// Measure is a row of the table of measures. A cell is a length of time, a number, or nil.
type Measure struct {
	Name, Head                                string
	Recorded, Simulated, Floor, Perfect       any
	LaterRecorded, LaterSimulated, LaterFloor any
}

// Measures returns the waits and the measures of fidelity, one a row.
func (r *Result) Measures() []Measure {
	var out []Measure
	wait := func(name, head string, of func(*Waits) any) {
		l := &r.Later.Fidelity
		out = append(out, Measure{name, head, of(&r.Recorded), of(&r.Simulated), nil, of(&r.LimitsRuns.Simulated), of(&l.Recorded), of(&l.Simulated), nil})
	}
	number := func(name, head string, of func(*Fidelity) float64, floor func(*Floor) float64) {
		out = append(out, Measure{name, head, nil, round3(of(&r.Fidelity)), round3(floor(&r.Floor)), round3(of(&r.LimitsRuns)), nil, round3(of(&r.Later.Fidelity)), round3(floor(&r.Later.Floor))})
	}
	wait("wait_p50_s", "wait p50", func(w *Waits) any { return w.P50 })
	wait("wait_p90_s", "wait p90", func(w *Waits) any { return w.P90 })
	wait("wait_p95_s", "wait p95", func(w *Waits) any { return w.P95 })
	wait("wait_p99_s", "wait p99", func(w *Waits) any { return w.P99 })
	wait("wait_mean_s", "wait mean", func(w *Waits) any { return capcli.Seconds(w.Mean + 0.5) })
	number("qdist", "quantiles apart", func(f *Fidelity) float64 { return f.Distance }, func(f *Floor) float64 { return f.Distance })
	number("mae_log10", "error by job", func(f *Fidelity) float64 { return f.Error }, func(f *Floor) float64 { return f.Error })
	number("brier_1h", "over 1 h wrong", func(f *Fidelity) float64 { return f.Brier }, func(f *Floor) float64 { return f.Brier })
	number("within2", "within twice", func(f *Fidelity) float64 { return f.Within2 }, func(f *Floor) float64 { return f.Within2 })
	number("use_mae", "use apart", func(f *Fidelity) float64 { return f.UseError }, func(f *Floor) float64 { return f.UseError })
	out = append(out, Measure{Name: "base_1h", Head: "by share alone", Recorded: round3(r.Base), LaterRecorded: round3(r.Later.Base)})
	return append(out, Measure{Name: "would_fit_share", Head: "would fit", Recorded: rounded(r.WouldFit.Recorded), Simulated: rounded(r.WouldFit.Simulated)})
}
