package roadmap

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"capcli"
)

// Work says how a campaign becomes jobs: who sends them, and in what pieces.
type Work struct {
	Class     string // "" is the campaign's name
	Tenant    string // "" is the campaign's name
	Partition string
	Priority  int
	JobGPUs   int            // GPUs of a job; 0 is all of the campaign's in one job. They divide the campaign's
	Piece     capcli.Seconds // longest run time of a job, which the next goes on from; 0 is a whole run
	// DrawLength draws the length from its range, which failed runs, the MFU and the scaling leave open,
	// instead of taking its middle.
	DrawLength bool
}

// maxJobs is the most jobs of one campaign.
const maxJobs = 1_000_000

// Outcome is what became of a planned campaign in one future.
type Outcome struct {
	Name    string         `json:"campaign"`
	Happens bool           `json:"happens"`
	Start   capcli.Time    `json:"start"`   // with the delay
	Delay   capcli.Seconds `json:"delay_s"` // against the plan
	Length  capcli.Seconds `json:"length_s"`
	GPUs    int            `json:"gpus"`
	Jobs    int            `json:"jobs"`
	Work    capcli.GPUTime `json:"gpu_hours"` // of the jobs
}

// Jobs returns the jobs of the campaigns of a plan in one future, in order of submission, and what became of
// each campaign. A campaign happens, and is late, as it is in ApplyPath under the same seed. Its jobs hold
// its GPUs for exactly the length of its event, unless Work draws the length.
func (p *Plan) Jobs(seed capcli.Seed) (jobs []capcli.Job, list []Outcome, err error) {
	var events []Event
	for i := range p.List {
		events = append(events, p.List[i].Event)
		if c := p.List[i].Campaign; c == nil || !c.Work.DrawLength {
			events[i].LengthSD = 0
		}
	}
	for i := range p.List {
		e := &p.List[i]
		if e.Campaign == nil {
			continue
		}
		draw := drawOf(events, i, seed)
		out := Outcome{Name: e.Name, Happens: draw.happens, GPUs: int(e.Event.Size), Length: capcli.Seconds(e.Event.End - e.Event.Start), Start: e.Event.Start}
		if draw.happens {
			out.Delay = capcli.Seconds(math.Round(draw.delay))
			out.Start += capcli.Time(out.Delay)
			out.Length = max(1, out.Length+capcli.Seconds(math.Round(draw.longer)))
			made, err := e.jobs(out.Start, out.Length)
			if err != nil {
				return nil, nil, err
			}
			out.Jobs = len(made)
			for k := range made {
				out.Work += made[k].Work()
			}
			jobs = append(jobs, made...)
		}
		list = append(list, out)
	}
	slices.SortStableFunc(jobs, func(a, b capcli.Job) int {
		return cmp.Or(cmp.Compare(a.Submit, b.Submit), strings.Compare(a.ID, b.ID))
	})
	return jobs, list, nil
}

// jobs returns the jobs of a campaign that starts at a time and holds its GPUs for length seconds. Its runs,
// and the pieces of a run, go one after another; each waits for the one before.
func (p *Entry) jobs(start capcli.Time, length capcli.Seconds) ([]capcli.Job, error) {
	c := p.Campaign
	w, gpus := &c.Work, int(p.Event.Size)
	width := w.JobGPUs
	if width == 0 || width > gpus {
		width = gpus
	}
	if gpus%width != 0 {
		return nil, &capcli.InputError{Field: "job_gpus", Text: fmt.Sprintf("campaign %q: %d GPUs are no whole number of jobs of %d", p.Name, gpus, width)}
	}
	pieces := int64(max(1, c.Runs))
	if w.Piece > 0 {
		run := (int64(length) + pieces - 1) / pieces
		pieces *= (run + int64(w.Piece) - 1) / int64(w.Piece)
	}
	pieces = min(pieces, int64(length))
	lanes := int64(gpus / width)
	if pieces*lanes > maxJobs {
		return nil, &capcli.InputError{Field: "piece", Text: fmt.Sprintf("campaign %q: %d jobs; at most %d are allowed: make pieces longer, or jobs wider", p.Name, pieces*lanes, maxJobs)}
	}
	out := make([]capcli.Job, 0, pieces*lanes)
	last := make([]string, lanes)
	for i := range pieces {
		from, to := cut(length, i, pieces), cut(length, i+1, pieces)
		for lane := range lanes {
			j := capcli.Job{
				ID: jobID(p.Name, i, lane, lanes), Tenant: cmp.Or(w.Tenant, p.Name), Class: cmp.Or(w.Class, p.Name), Partition: w.Partition, GPUModel: c.GPUModel,
				GPUs: width, Priority: w.Priority, Submit: start + capcli.Time(from), Run: to - from,
				Start: capcli.NoTime, End: capcli.NoTime, Eligible: capcli.NoTime, Deadline: capcli.NoTime,
			}
			if pieces > 1 {
				j.Stage = &capcli.Stage{Workflow: p.Name, Name: "piece " + strconv.FormatInt(i+1, 10)}
				if last[lane] != "" {
					j.Stage.After = []capcli.After{{ID: last[lane], When: capcli.AfterAny}}
				}
			}
			last[lane] = j.ID
			out = append(out, j)
		}
	}
	return out, nil
}

// cut returns where the i-th of n equal parts of length begins, rounded down.
func cut(length capcli.Seconds, i, n int64) capcli.Seconds {
	whole, rest := int64(length)/n, int64(length)%n
	return capcli.Seconds(whole*i + rest*i/n)
}

// jobID returns the id of a job of a campaign: name/3 for the third piece, name/3.2 for its second job.
func jobID(name string, piece, lane, lanes int64) string {
	id := name + "/" + strconv.FormatInt(piece+1, 10)
	if lanes > 1 {
		id += "." + strconv.FormatInt(lane+1, 10)
	}
	return id
}
