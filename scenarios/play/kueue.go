//go:build !js

package play

import (
	"context"
	"fmt"
	"path/filepath"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/scenarios"
	"capcli/scenarios/kubernetes"
	"capcli/simulate"
)

// KeepKueue returns the scenario of the objects of a request, from which c was made.
func KeepKueue(c *kubernetes.Cluster, q *kubernetes.Request) (*ScenarioText, error) {
	text, err := c.Scenario(q, func(file string) string { return file })
	return &ScenarioText{YAML: text, File: kubernetes.ScenarioName(q.Files) + ".yaml"}, err
}

// findWorkloads sets the jobs of a case on which Kueue decides: the workloads of the objects, and the
// jobs of a log.
func (c *Case) findWorkloads(o *Options) error {
	s := c.Scenario
	if s.Policy.Name != "" && s.Policy.Name != scenarios.KueuePolicy {
		return &capcli.RequestError{Field: "policy", Text: "is " + s.Policy.Name + ", but the scenario's jobs are Kueue's to decide on", Hint: "leave it out, or leave kueue out of the scenario"}
	}
	if o.Logs == nil {
		return &capcli.RequestError{Field: "kueue", Text: "names files, but nothing opens them", Hint: "set Options.Logs"}
	}
	q := &kubernetes.Request{Trace: o.Trace, Read: o.Read, Default: s.Kueue.Default, EvictTime: s.Kueue.EvictTime, Current: s.Kueue.Current}
	beside := func(name string) string {
		if filepath.IsAbs(name) || name == "-" {
			return name
		}
		return filepath.Join(s.Dir, name)
	}
	for _, name := range s.Kueue.Objects {
		q.Files = append(q.Files, beside(name))
	}
	if q.Trace == "" && s.Jobs.From != "" {
		q.Trace, q.Read.Format = beside(s.Jobs.From), s.Jobs.Format
		var err error
		if q.Read.TZ, err = trace.ParseZone(s.Jobs.TZ); err != nil {
			return err
		}
	}
	note := o.Note
	if note == nil {
		note = func(string) {}
	}
	cluster, err := q.Cluster(o.Logs.Open, note)
	if err != nil {
		return err
	}
	c.kueue = cluster
	c.Notes = append(c.Notes, cluster.Notes...)
	for _, x := range cluster.Unqueued {
		c.Notes = append(c.Notes, fmt.Sprintf("%s is in no queue: %s", x.ID, x.Reason))
	}
	if n := len(cluster.Unqueued); n > maxUnqueued {
		c.Notes = append(c.Notes[:len(c.Notes)-n+maxUnqueued], fmt.Sprintf("%d other workloads are in no queue", n-maxUnqueued))
	}
	c.Source = Source{Name: q.Files[0], Open: func(int) (*Reading, error) {
		return nil, kueueDecides(s.Name)
	}}
	return nil
}

// kueueDecides is the error of what needs the engine, in a scenario that does not use it.
func kueueDecides(name string) error {
	return &capcli.RequestError{
		Field: "kueue", Text: ": Kueue decides on the jobs of " + name + "; what is asked for needs the policies of this program",
		Hint: "capcli simulate and compare take such a scenario; --decisions-out of simulate --kueue has what became of each job",
	}
}

// reading starts a reading of the jobs of a run. Where Kueue decides there is none.
func (c *Case) reading(run int) (*Reading, error) {
	if c.kueue != nil && c.Prepare != nil { // it wants to see the events of the engine
		return nil, kueueDecides(c.Scenario.Name)
	}
	if c.kueue != nil {
		return &Reading{Jobs: func(func(capcli.Job, error) bool) {}}, nil
	}
	return c.Source.Read(run)
}

// maxUnqueued is the number of workloads in no queue that notes name.
const maxUnqueued = 5

// decide lets Kueue decide on the workloads, and sums up what came of them in the pools of cfg.
func (c *Case) decide(ctx context.Context, cfg *simulate.Config, curve *Curve, lines *jobLines, progress func(n int64)) (*simulate.Result, *kubernetes.Study, error) {
	study, err := c.kueue.Decide(ctx, func(done, _ int64) { progress(done) })
	if err != nil {
		return nil, nil, err
	}
	h, err := study.History(cfg.Pools)
	if err != nil {
		return nil, nil, capcli.NameFile(err, c.Scenario.File)
	}
	h.Cuts, h.Hourly, h.CPUJobs, h.Timeline, h.Zone = cfg.Cuts, cfg.Hourly, cfg.CPUJobs, cfg.Timeline, cfg.Zone
	result, err := h.Result()
	curve.fill(h)
	if cfg.Timeline {
		lines.fill(h)
	}
	return result, study, err
}
