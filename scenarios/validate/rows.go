package validate

import (
	"fmt"
	"io"
	"strings"

	"capcli"
)

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
