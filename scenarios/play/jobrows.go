package play

import (
	"io"
	"strconv"
	"strings"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/simulate"
)

// JobRows is an observer of a run that writes one CSV row a job, in order of submission. A row
// waits until all earlier rows are complete, so memory grows with the number of such rows. Close it
// after the run.
type JobRows struct {
	w     io.Writer
	rates []billing.Rate
	guard func(string) string
	base  int64 // index of rows[0]
	rows  []jobRow
	done  int // rows at the front that are already written
	c     *simulate.Cluster
	first capcli.Seconds // first submission
	begun bool
	names []string // names of the pools
	err   error
}

// jobRow is a row not yet written. text is set once the job is done; job is set until then.
type jobRow struct {
	text []byte
	job  *simulate.Live
}

// jobColumns is the header. Times are in seconds since the first submission; start and end are
// empty if the job did not start or end.
const jobColumns = "job_id,tenant,gpus,submit_s,start_s,end_s,wait_s,preemptions,nodes,tier,cost_usd\n"

// NewJobRows returns an observer that writes the jobs of a run of c to w. guard escapes texts that
// a reader of CSV could take for something else; nil escapes none.
func NewJobRows(w io.Writer, c *Case, guard func(field string) string) *JobRows {
	r := &JobRows{w: w, rates: c.Rates, guard: guard}
	_, r.err = io.WriteString(w, jobColumns)
	return r
}

// Observe implements simulate.Observer: it follows jobs from arrival to end.
func (r *JobRows) Observe(e simulate.Event, c *simulate.Cluster) {
	switch e.Kind {
	case simulate.Arrive:
		if !r.begun {
			r.begun, r.first, r.c = true, e.Job.Submitted, c
			for p := range c.Pools() {
				r.names = append(r.names, c.Pool(p).Name)
			}
		}
		row := jobRow{job: e.Job}
		if e.Job.Refused() {
			row = jobRow{text: r.format(nil, e.Job)}
		}
		r.rows = append(r.rows, row)
		r.flush()
	case simulate.Finish, simulate.Drop:
		r.rows[e.Job.Index()-r.base] = jobRow{text: r.format(nil, e.Job)}
		r.flush()
	case simulate.Drain, simulate.Lose, simulate.Gain, simulate.Wake, simulate.Start, simulate.Preempt:
	}
}

// flush writes the complete rows at the front. It frees their places once they are half of all, so
// that each row is moved at most once on average.
func (r *JobRows) flush() {
	for r.done < len(r.rows) && r.rows[r.done].text != nil {
		if r.err == nil {
			_, r.err = r.w.Write(r.rows[r.done].text)
		}
		r.rows[r.done] = jobRow{}
		r.done++
	}
	if 2*r.done >= len(r.rows) {
		r.base += int64(r.done)
		n := copy(r.rows, r.rows[r.done:])
		clear(r.rows[n:])
		r.rows, r.done = r.rows[:n], 0
	}
}

// Close writes the jobs that have not ended. It returns the first error of writing or of computing
// a job's cost.
func (r *JobRows) Close() error {
	for i := r.done; i < len(r.rows); i++ {
		if r.rows[i].text == nil {
			r.rows[i].text = r.format(nil, r.rows[i].job)
		}
	}
	r.flush()
	return r.err
}

func (r *JobRows) format(b []byte, l *simulate.Live) []byte {
	b = r.appendField(b, l.ID)
	b = append(b, ',')
	b = r.appendField(b, l.Tenant)
	b = append(b, ',')
	b = strconv.AppendFloat(b, float64(l.Milli())/1000, 'f', -1, 64)
	b = append(b, ',')
	b = strconv.AppendInt(b, int64(l.Submitted-r.first), 10)
	b = append(b, ',')
	if l.FirstStart >= 0 {
		b = strconv.AppendInt(b, int64(l.FirstStart-r.first), 10)
	}
	b = append(b, ',')
	if l.Ended >= 0 {
		b = strconv.AppendInt(b, int64(l.Ended-r.first), 10)
	}
	b = append(b, ',')
	if l.FirstStart >= 0 {
		b = strconv.AppendInt(b, int64(l.Wait()), 10)
	}
	b = append(b, ',')
	b = strconv.AppendInt(b, int64(l.Preempted), 10)
	b = append(b, ',')
	b = r.appendNodes(b, l)
	b = append(b, ',')
	b = r.appendTiers(b, l)
	b = append(b, ',')
	cost, err := billing.JobCost(l.Holds(), r.rates)
	if err != nil && r.err == nil {
		r.err = err
	}
	b = append(b, cost.Decimal()...)
	return append(b, '\n')
}

// appendNodes appends the nodes of the job's last stay as pool/number, joined by +.
func (r *JobRows) appendNodes(b []byte, l *simulate.Live) []byte {
	for i, s := range l.Slices() {
		if i > 0 {
			b = append(b, '+')
		}
		b = append(b, r.names[s.Pool]...)
		b = append(b, '/')
		b = strconv.AppendInt(b, int64(r.c.NodeNumber(int(s.Node))), 10)
	}
	return b
}

// appendTiers appends the tiers that the job ran in, joined by +. A job that ran for no time gets
// the tier of its node.
func (r *JobRows) appendTiers(b []byte, l *simulate.Live) []byte {
	var had [3]bool
	n := 0
	add := func(pool int) {
		tier := billing.TierOf(r.c.Pool(pool).Terms)
		if had[tier] {
			return
		}
		had[tier] = true
		if n++; n > 1 {
			b = append(b, '+')
		}
		b = append(b, tier.String()...)
	}
	for _, h := range l.Holds() {
		add(h.Pool)
	}
	if s := l.Slices(); n == 0 && len(s) > 0 {
		add(int(s[0].Pool))
	}
	return b
}

// appendField appends a text as a CSV field, quoted where it must be.
func (r *JobRows) appendField(b []byte, s string) []byte {
	if r.guard != nil {
		s = r.guard(s)
	}
	if !strings.ContainsAny(s, ",\"\r\n") {
		return append(b, s...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(s, `"`, `""`)...)
	return append(b, '"')
}
