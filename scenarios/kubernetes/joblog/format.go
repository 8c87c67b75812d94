package joblog

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"

	"capcli"
	"capcli/profile/logs/trace"
)

// The names of the tables beside the jobs.
const (
	HistoryTable = "history"
	RunsTable    = "runs"
)

func init() {
	trace.Formats.Add("kubernetes", "a cluster's own history: kubectl get workloads,jobs,pods -A -o json, watch streams and exports of events", trace.Format{
		Sniff: sniff, Read: readJobs, Several: true, Tagged: true, Tables: []string{HistoryTable, RunsTable, trace.NodesTable},
	})
}

// sniff recognises objects of Kubernetes, as JSON or as YAML.
func sniff(head []byte) bool {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n-")
	has := func(word string) bool { return bytes.Contains(head, []byte(word)) }
	if len(text) > 0 && (text[0] == '{' || text[0] == '[') {
		return has(`"metadata"`) && (has(`"apiVersion"`) || has(`"involvedObject"`) || has(`"regarding"`))
	}
	return (bytes.HasPrefix(text, []byte("apiVersion:")) || bytes.HasPrefix(text, []byte("kind:"))) && (has("metadata:") || has("items:"))
}

func readJobs(r *trace.Reader) error {
	c := NewReader()
	if err := readInput(r, c, r.Input().Name, r.Body()); err != nil {
		return err
	}
	for _, in := range r.Options().More {
		plain, err := trace.Unpack(in)
		if err != nil {
			return err
		}
		if err := readInput(r, c, in.Name, plain); err != nil {
			return err
		}
	}
	h := c.History()
	if table := r.Options().Tables; table != nil {
		table(trace.Table{Name: HistoryTable, Rows: h.Rows()})
		table(trace.Table{Name: RunsTable, Rows: h.RunRows()})
		if len(h.Nodes) > 0 {
			table(trace.Table{Name: trace.NodesTable, Rows: h.NodeRows()})
		}
	}
	if len(h.Nodes) > 0 {
		r.AllowEmpty()
	}
	for _, n := range h.Notes {
		r.Note(n)
	}
	r.Fold(max(0, c.Objects-int64(len(c.Faults)+len(h.Jobs))))
	for _, f := range c.Faults {
		if !r.Reject(f.Line, []byte(f.Object), f.Text) {
			return nil
		}
	}
	return h.yield(r)
}

func readInput(r *trace.Reader, c *Reader, name string, in io.Reader) error {
	cut, err := c.Read(name, in)
	var known *capcli.InputError
	switch {
	case err != nil && errors.As(err, &known):
		return err
	case err != nil && in != r.Body():
		return &capcli.InputError{File: name, Text: "cannot be read to its end: " + err.Error(), Hint: "check the copy", Err: err}
	case err != nil:
		return nil //nolint:nilerr // trace.Reader tells of errors of its own input
	case cut != "":
		return r.CutShort(cut)
	}
	return nil
}

// tagger returns what makes the tags of the jobs of r from their labels, and the names of these.
func (h *History) tagger(r *trace.Reader) (*trace.Tagger, []string, error) {
	found := map[string]bool{}
	for i := range h.Jobs {
		for _, labels := range h.Jobs[i].labels {
			for name := range labels {
				found[name] = true
			}
		}
	}
	if len(h.Jobs) == 0 {
		return nil, nil, nil
	}
	names := slices.Sorted(maps.Keys(found))
	t, err := r.Tagger(names, nil)
	return t, names, err
}

// label returns the value of a label of the job; "" where no object of the job has it.
func (j *Job) label(name string) string {
	for _, labels := range j.labels {
		if v := labels[name]; v != "" {
			return string(v)
		}
	}
	return ""
}

// yield passes the jobs to r, in order of submission. It fails where no job has a label that is asked
// for as a tag.
func (h *History) yield(r *trace.Reader) error {
	tags, names, err := h.tagger(r)
	if err != nil {
		return err
	}
	last := h.lastRun()
	order := slices.Clone(h.Jobs)
	slices.SortStableFunc(order, func(a, b Job) int { return cmp.Or(cmp.Compare(a.Submit, b.Submit), strings.Compare(a.ID, b.ID)) })
	var earlier capcli.GPUTime
	again := 0
	for i := range order {
		j := &order[i]
		job, reason := j.trace(last[j.ID], h.Latest)
		more := false
		if reason != "" {
			more = r.Reject(j.line, []byte(j.ID), reason)
		} else {
			for _, what := range j.assumed(&job) {
				r.Assume(what)
			}
			job.Tags = tags.Texts(func(i int) string { return j.label(names[i]) })
			more = r.Keep(j.line, []byte(j.ID), &job)
		}
		if !more {
			return nil
		}
		if j.Earlier > 0 && job.Start.IsKnown() && j.State != cancelled {
			again++
			earlier += capcli.GPUTime(saturated(0, j.GPUs*1000, int64(j.Earlier)))
		}
	}
	if again > 0 {
		r.Note(fmt.Sprintf("%s had runs that were preempted or evicted; those held %.1f GPU-hours and are not in the jobs, only the last runs are", counted(again, "job"), earlier.Hours()))
	}
	return nil
}

// states are the states in Slurm's words.
var states = map[string]string{succeeded: "COMPLETED", failed: "FAILED", cancelled: "CANCELLED", running: "RUNNING"}

// trace returns j as a job of a log, or the reason why it is none. last is its last run, and latest the latest
// time that the files tell.
func (j *Job) trace(last Run, latest capcli.Time) (job capcli.Job, reason string) {
	job = capcli.Job{
		ID: j.ID, Tenant: j.Tenant, Partition: j.Queue, GPUModel: modelOf(cmp.Or(j.Flavor, j.Product)), State: states[j.State],
		CPUMilli: j.CPUMilli, MemMiB: j.MemMiB, Submit: j.Submit, Eligible: capcli.NoTime, Start: j.Start, End: j.End,
		Limit: j.Limit, Priority: int(j.Priority), Deadline: capcli.NoTime,
	}
	if j.State == pending {
		return job, "pending: not started yet"
	}
	if !job.Start.IsKnown() && last.ID != "" && last.Stopped.IsKnown() {
		job.Start, job.End = last.Admitted, last.Stopped
	}
	switch {
	case job.Start.IsKnown() && job.End.IsKnown():
		job.Run = capcli.Seconds(job.End - job.Start)
	case job.Start.IsKnown():
		job.Run = capcli.Seconds(max(latest, job.Start) - job.Start)
	case j.Earlier > 0:
		job.Run, job.End = j.Earlier, capcli.NoTime
	default:
		return job, "never started"
	}
	milli := migMilli(j.MIG)
	switch {
	case milli > 0 && milli < 1000 && j.GPUs == 0:
		job.GPUs, job.GPUMilli = 1, int(milli)
	default:
		job.GPUs = int(j.GPUs + (milli+999)/1000)
	}
	return job, ""
}

// assumed returns what was assumed to make job of j.
func (j *Job) assumed(job *capcli.Job) []string {
	var out []string
	if j.State == running {
		out = append(out, "still running: run time up to the latest time in the files")
	}
	if !job.Start.IsKnown() {
		out = append(out, "cancelled, and no event tells when it ran: all its runs as one, without a start")
	}
	if len(j.MIG) > 0 {
		out = append(out, "MIG slices: counted as parts of a GPU (of its compute or memory, whichever is more), above one GPU as whole GPUs")
	}
	return out
}

// models are the GPUs that names of flavors and products are searched for.
var models = strings.Fields("GB300 GB200 GH200 B300 B200 B100 H800 H200 H100 H20 A800 A100 A40 A30 A16 A10G A10 A2 L40S L40 L20 L4 " +
	"V100 P100 P40 P4 T4 K80 MI355X MI350X MI325X MI300X MI300A MI250X MI250 MI210 MI100")

// modelOf returns the models that the words of text name, A100 for "pool-a100-80gb", or "".
func modelOf(text string) string {
	var out []string
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		if word = strings.ToUpper(word); slices.Contains(models, word) && !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return strings.Join(out, "|")
}
