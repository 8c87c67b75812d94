package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/scenarios/kubernetes/kueue"
)

// Request asks what Kueue decides with the objects of some files.
type Request struct {
	Files     []string // manifests, or what kubectl prints
	Trace     string   // job log: how long workloads last, and further jobs; "" is none
	Read      trace.Options
	Default   capcli.Seconds // of workloads of which nothing says how long they last; 0 refuses them
	EvictTime capcli.Seconds // from preemption until the pods are gone
	Current   bool           // begin with what workloads hold now
}

// Check fails with *capcli.RequestError if the request cannot be answered.
func (q *Request) Check() error {
	switch {
	case len(q.Files) == 0:
		return &capcli.RequestError{Field: "kueue", Text: "wants a file of Kubernetes objects", Hint: "kubectl get clusterqueues,cohorts,resourceflavors,localqueues,workloads -A -o json > objects.json"}
	case q.EvictTime < 0 || q.EvictTime > 86400:
		return &capcli.RequestError{Field: "evict-time", Text: fmt.Sprintf("wants 0 s to 1 d, found %s", q.EvictTime)}
	case q.Default < 0 || q.Default > maxDuration:
		return &capcli.RequestError{Field: "duration", Text: "wants 0 s to 100 years"}
	}
	return nil
}

// Settle reads the lengths of time as flags write them, "" for none, and checks the request.
func (q *Request) Settle(evictTime, lasting string) (err error) {
	if q.EvictTime, err = capcli.ParseSeconds(cmp.Or(evictTime, "0s")); err != nil {
		return &capcli.RequestError{Field: "evict-time", Text: err.Error(), Hint: "for example evict-time=5s"}
	}
	if q.Default, err = capcli.ParseSeconds(cmp.Or(lasting, "0s")); err != nil {
		return &capcli.RequestError{Field: "duration", Text: err.Error(), Hint: "for example duration=2h"}
	}
	return q.Check()
}

// Study is a world that was decided.
type Study struct {
	*Cluster
	Decided *kueue.Result
	Stays   []kueue.Stay
}

// Simulate reads the objects and decides as Kueue does. progress may be nil.
func (q *Request) Simulate(ctx context.Context, open trace.Opener, note func(string), progress func(done, total int64)) (*Study, error) {
	c, err := q.Cluster(open, note)
	if err != nil {
		return nil, err
	}
	return c.Decide(ctx, progress)
}

// Decide runs the world: by the rules of Kueue, or where there are none by those of the default scheduler.
func (c *Cluster) Decide(ctx context.Context, progress func(done, total int64)) (*Study, error) {
	if c.Plain != nil {
		return c.decidePlain(ctx, progress)
	}
	r, err := kueue.Run(ctx, &c.World, kueue.Options{Progress: progress})
	if err != nil {
		return nil, err
	}
	return &Study{c, r, r.Stays(&c.World)}, nil
}

// Cluster reads the objects and the log, and makes the world of them.
func (q *Request) Cluster(open trace.Opener, note func(string)) (*Cluster, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	o, err := q.objects(open)
	if err != nil {
		return nil, err
	}
	options := Options{Default: q.Default, EvictTime: q.EvictTime, Current: q.Current}
	if q.Trace != "" {
		if err := q.readTrace(&options, open, note); err != nil {
			return nil, err
		}
	}
	return o.Build(&options)
}

// Scenario reads the objects and writes a scenario of them: see Cluster.Scenario.
func (q *Request) Scenario(open trace.Opener, note func(string), seen func(file string) string) ([]byte, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	o, err := q.objects(open)
	if err != nil {
		return nil, err
	}
	c, err := o.Rules(&Options{EvictTime: q.EvictTime})
	if err != nil {
		return nil, err
	}
	for _, n := range c.Notes {
		note(n)
	}
	return c.Scenario(q, seen)
}

// objects reads the files, which may be packed.
func (q *Request) objects(open trace.Opener) (*Objects, error) {
	o := NewObjects()
	for _, file := range q.Files {
		in, done, err := open(file)
		if err != nil {
			return nil, err
		}
		b, err := readAll(in)
		_ = done.Close()
		if err != nil {
			return nil, err
		}
		if err := o.Read(file, b); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func readAll(in trace.Input) ([]byte, error) {
	text, err := trace.Unpack(in)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(text, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", in.Name, err)
	}
	return b, nil
}

func (q *Request) readTrace(o *Options, open trace.Opener, note func(string)) error {
	in, done, err := open(q.Trace)
	if err != nil {
		return err
	}
	defer func() { _ = done.Close() }()
	r, err := trace.Open(in, q.Read)
	if err != nil {
		return err
	}
	lengths := map[string]capcli.Seconds{}
	for j, err := range r.Jobs() {
		if err != nil {
			return capcli.NameFile(err, q.Trace)
		}
		lengths[j.ID] = j.Run
		o.Jobs = append(o.Jobs, j)
	}
	if n := r.Report().Rejected; n > 0 {
		note(fmt.Sprintf("%s: %s rows rejected (capcli import lists each)", q.Trace, capcli.Grouped(n)))
	}
	slices.SortStableFunc(o.Jobs, func(a, b capcli.Job) int {
		return cmp.Or(cmp.Compare(a.Submit, b.Submit), strings.Compare(a.ID, b.ID))
	})
	o.Durations = func(id string) (capcli.Seconds, bool) {
		v, ok := lengths[id]
		return v, ok
	}
	return nil
}
