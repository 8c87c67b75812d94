package main

import (
	"strconv"
	"strings"

	"capcli"
	"capcli/cmd/report"
	"capcli/simulate"
	"capcli/simulate/billing"
)

// jobRows writes what became of each job as CSV, in order of submission. A row
// is held back until those before it are done, so memory follows the jobs that
// were overtaken.
type jobRows struct {
	out   *output
	plan  *plan
	base  int64 // index of the first held row
	rows  []jobRow
	first capcli.Seconds // first submission
	begun bool
	names []string // of pools
	err   error
}

// jobRow is a row that is not yet written: text when it is done, else its job.
type jobRow struct {
	text []byte
	job  *simulate.Live
}

// jobColumns are the columns of --jobs-out. Seconds count from the first
// submission; an empty start or end has not come.
const jobColumns = "job_id,tenant,gpus,submit_s,start_s,end_s,wait_s,preemptions,nodes,tier,cost_usd\n"

func newJobRows(e *env, path string, p *plan) (*jobRows, error) {
	out, err := e.create(path)
	if err != nil {
		return nil, err
	}
	r := &jobRows{out: out, plan: p}
	_, r.err = out.Write([]byte(jobColumns))
	return r, nil
}

func (r *jobRows) abort() { r.out.Abort() }

// Observe follows jobs from their arrival to their end.
func (r *jobRows) Observe(e simulate.Event, c *simulate.Cluster) {
	switch e.Kind {
	case simulate.Arrive:
		if !r.begun {
			r.begun, r.first = true, e.Job.Submitted
			for p := range c.Pools() {
				r.names = append(r.names, c.Pool(p).Name)
			}
		}
		row := jobRow{job: e.Job}
		if e.Job.Refused() {
			row = jobRow{text: r.format(nil, e.Job, c)}
		}
		r.rows = append(r.rows, row)
	case simulate.Finish:
		i := e.Job.Index() - r.base
		r.rows[i] = jobRow{text: r.format(nil, e.Job, c)}
		if i == 0 {
			r.flush()
		}
	case simulate.Drain, simulate.Lose, simulate.Gain, simulate.Wake, simulate.Start, simulate.Preempt:
	}
}

// flush writes the done rows at the front.
func (r *jobRows) flush() {
	n := 0
	for n < len(r.rows) && r.rows[n].text != nil {
		if r.err == nil {
			_, r.err = r.out.Write(r.rows[n].text)
		}
		n++
	}
	r.base += int64(n)
	r.rows = r.rows[:copy(r.rows, r.rows[n:])]
}

// commit writes the jobs that have not ended, and the file.
func (r *jobRows) commit() error {
	for i := range r.rows {
		if r.rows[i].text == nil {
			r.rows[i].text = r.format(nil, r.rows[i].job, nil)
		}
	}
	r.flush()
	if r.err != nil {
		return r.out.failed(r.err)
	}
	return r.out.Commit()
}

// format appends one row.
func (r *jobRows) format(b []byte, l *simulate.Live, c *simulate.Cluster) []byte {
	b = appendField(b, l.ID)
	b = append(b, ',')
	b = appendField(b, l.Tenant)
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
	b = r.appendNodes(b, l, c)
	b = append(b, ',')
	b = r.appendTiers(b, l, c)
	b = append(b, ',')
	cost, err := billing.JobCost(l.Holds(), r.plan.rates)
	if err != nil && r.err == nil {
		r.err = err
	}
	b = append(b, cost.Decimal()...)
	return append(b, '\n')
}

// appendNodes names the nodes of the last stay: pool/number, joined by +.
func (r *jobRows) appendNodes(b []byte, l *simulate.Live, c *simulate.Cluster) []byte {
	if c == nil {
		return b
	}
	for i, s := range l.Slices() {
		if i > 0 {
			b = append(b, '+')
		}
		b = append(b, r.names[s.Pool]...)
		b = append(b, '/')
		b = strconv.AppendInt(b, int64(c.NodeNumber(int(s.Node))), 10)
	}
	return b
}

// appendTiers names the tiers that the job ran in, joined by +.
func (r *jobRows) appendTiers(b []byte, l *simulate.Live, c *simulate.Cluster) []byte {
	if c == nil {
		return b
	}
	var had [3]bool
	n := 0
	for _, h := range l.Holds() {
		tier := billing.TierOf(c.Pool(h.Pool).Terms)
		if had[tier] {
			continue
		}
		had[tier] = true
		if n++; n > 1 {
			b = append(b, '+')
		}
		b = append(b, tier.String()...)
	}
	return b
}

// appendField appends a text as a CSV field, quoted where it must be.
func appendField(b []byte, s string) []byte {
	s = report.Guard(s)
	if !strings.ContainsAny(s, ",\"\r\n") {
		return append(b, s...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(s, `"`, `""`)...)
	return append(b, '"')
}
