package scale

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"capcli"
)

// Summary is the figures of a run. Its fields are those of the published step tables.
type Summary struct {
	Requests     int64   `json:"requests"`
	ReplicaSteps int64   `json:"replica_steps"` // ready and loading
	ReplicaHours float64 `json:"replica_hours"`
	Late         int64   `json:"late"` // served late, or not by the end
	LateShare    float64 `json:"late_share"`
	Served       int64   `json:"served"`
	BacklogEnd   int64   `json:"backlog_end"`
	MaxBacklog   int64   `json:"max_backlog"`
	MaxDesired   int     `json:"max_desired"`
	Changes      int     `json:"changes"` // steps whose desired number differs from the step before
	Perfect      Perfect `json:"perfect"`

	BoundNoneLate  *int64 `json:"bound_none_late"`            // see BoundNoneLate; nil where no plan can
	BoundLateSteps *int64 `json:"bound_late_steps,omitempty"` // see BoundLate; only of small cases
}

// Perfect is a system that scales at once: ceil(load/per replica) in each step. It is no bound where
// requests may wait.
type Perfect struct {
	Peak         int64   `json:"peak"`
	Mean         float64 `json:"mean"`
	ReplicaSteps int64   `json:"replica_steps"`
}

// summary returns the figures of the run.
func (p *player) summary() Summary {
	s := Summary{
		Requests: p.queue.Arrived, ReplicaSteps: p.paid, ReplicaHours: float64(p.paid) * float64(p.Length) / 3600,
		Late: p.queue.LateByEnd(), Served: p.queue.Served, BacklogEnd: p.queue.Backlog, Perfect: p.perfect(),
	}
	if s.Requests > 0 {
		s.LateShare = float64(s.Late) / float64(s.Requests)
	}
	for i, r := range p.run.Rows {
		s.MaxBacklog = max(s.MaxBacklog, r.Backlog)
		s.MaxDesired = max(s.MaxDesired, r.Desired)
		if i > 0 && r.Desired != p.run.Rows[i-1].Desired {
			s.Changes++
		}
	}
	s.BoundNoneLate = p.BoundNoneLate()
	if len(p.Load)*p.max() <= smallCase {
		if n, err := p.BoundLate(); err == nil {
			s.BoundLateSteps = n
		}
	}
	return s
}

// perfect returns what a system that scales at once would need.
func (c *Case) perfect() Perfect {
	var out Perfect
	for _, n := range c.Load {
		need := c.need(n)
		out.Peak = max(out.Peak, need)
		out.ReplicaSteps += need
	}
	out.Mean = float64(out.ReplicaSteps) / float64(len(c.Load))
	return out
}

// need returns the replicas that serve n requests in a step.
func (c *Case) need(n int64) int64 { return n/c.PerUnit + min(1, n%c.PerUnit) }

// LoadColumn is the column of a file of load.
const LoadColumn = "load"

// ReadLoad reads column load of delimited text with a header: the requests of each step, in order. Other
// columns are ignored. It fails with a *capcli.InputError, without the name of the file.
func ReadLoad(src io.Reader) ([]int64, error) {
	lines := capcli.NewLineReader(src)
	head, ok := lines.Next()
	if !ok {
		return nil, loadFault(lines, "", "the file is empty; want a header with a column load, then a line for each step")
	}
	fields := capcli.Fields{Separator: capcli.FindSeparator(head, ",;\t")}
	if fields.SplitRecord(lines, head) == capcli.QuoteOpen {
		return nil, loadFault(lines, "", "a quote is not closed")
	}
	names := capcli.Map(fields.Row, func(f []byte) string { return string(slices.Clone(f)) })
	column := capcli.FindColumn(names, LoadColumn)
	if column < 0 {
		return nil, loadFault(lines, LoadColumn, fmt.Sprintf("no column load in the header %s", capcli.Quoted(string(fields.Raw))))
	}
	var out []int64
	for {
		line, ok := lines.Next()
		if !ok {
			break
		}
		if len(line) == 0 {
			continue
		}
		n, err := readCount(&fields, lines, line, column)
		if err != nil {
			return nil, err
		}
		if len(out) == MaxSteps {
			return nil, loadFault(lines, "", fmt.Sprintf("more than %d steps", MaxSteps))
		}
		out = append(out, n)
	}
	if err := lines.Err(); err != nil && !errors.Is(err, io.EOF) {
		return nil, loadFault(lines, "", err.Error())
	}
	if len(out) == 0 {
		return nil, loadFault(lines, LoadColumn, "no step: want a line for each step below the header")
	}
	return out, nil
}

// readCount returns the number of requests of a line.
func readCount(fields *capcli.Fields, lines *capcli.LineReader, line []byte, column int) (int64, error) {
	if fields.SplitRecord(lines, line) == capcli.QuoteOpen {
		return 0, loadFault(lines, "", "a quote is not closed")
	}
	if column >= len(fields.Row) {
		return 0, loadFault(lines, LoadColumn, fmt.Sprintf("the line has %d columns; load is column %d", len(fields.Row), column+1))
	}
	text := string(fields.Row[column])
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		x, wrong := strconv.ParseFloat(text, 64)
		if wrong != nil || x != math.Trunc(x) || math.Abs(x) > maxRequests {
			return 0, loadFault(lines, LoadColumn, fmt.Sprintf("want a whole number of requests, found %s", capcli.Quoted(text)))
		}
		n = int64(x)
	}
	if n < 0 || n > maxRequests {
		return 0, loadFault(lines, LoadColumn, fmt.Sprintf("want a number of requests from 0 to 2^61, found %s", capcli.Quoted(text)))
	}
	return n, nil
}

func loadFault(lines *capcli.LineReader, field, text string) error {
	return &capcli.InputError{Line: lines.Line(), Field: field, Text: text, Hint: "a file such as: load, then 12, 3, 18 … one below the other"}
}

// Columns are the columns of WriteRows.
var Columns = []string{"step", "load", "ready", "loading", "served", "backlog", "desired"}

// WriteRows writes the steps as CSV with a header.
func WriteRows(w io.Writer, rows []Row) error {
	out := csv.NewWriter(w)
	line := slices.Clone(Columns)
	err := out.Write(line)
	for _, r := range rows {
		for i, n := range [...]int64{int64(r.Step), r.Load, int64(r.Ready), int64(r.Loading), r.Served, r.Backlog, int64(r.Desired)} {
			line[i] = strconv.FormatInt(n, 10)
		}
		if err == nil {
			err = out.Write(line)
		}
	}
	out.Flush()
	return errors.Join(err, out.Error())
}
