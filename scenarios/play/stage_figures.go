package play

import (
	"cmp"
	"slices"

	"capcli"
	"capcli/scenarios/generate"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/outcome"
	"capcli/simulate"
	"capcli/simulate/workflow"
)

// stageWatch observes the jobs of workflows: those that name one.
type stageWatch struct {
	stages *simulate.Stages
	list   []capcli.Job
	jobs   []stageJob // by place in the list
	rates  []billing.Rate
	err    error
}

// stageJob is what became of a job of a workflow.
type stageJob struct {
	ready, start, end  capcli.Seconds // end -1 is open
	queued             capcli.Seconds
	used               capcli.GPUTime
	cost               capcli.USD
	retries            int
	ended, well, never bool // never: cancelled or refused
}

// Observe implements simulate.Observer.
func (w *stageWatch) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Job == nil || e.Job.Stage == nil {
		return
	}
	j := &w.jobs[e.Job.Place()]
	switch e.Kind {
	case simulate.Arrive:
		j.ready = e.At
		if j.start = -1; e.Job.Refused() {
			j.end, j.ended, j.never = e.At, true, true
		}
	case simulate.Start:
		if j.start < 0 {
			j.start = e.Job.FirstStart
		}
	case simulate.Finish, simulate.Drop:
		l := e.Job
		j.ended, j.end, j.queued, j.retries = true, e.At, l.Queued, l.Retried()
		j.well, j.never = e.Kind == simulate.Finish && !l.Spoilt(), e.Kind == simulate.Drop && l.FirstStart < 0
		w.count(j, l)
	case simulate.Drain, simulate.Lose, simulate.Gain, simulate.Wake, simulate.Preempt:
	}
}

// Close implements simulate.Closer: it counts the jobs that are open.
func (w *stageWatch) Close(l *simulate.Live) {
	if l.Stage != nil {
		w.count(&w.jobs[l.Place()], l)
	}
}

func (w *stageWatch) count(j *stageJob, l *simulate.Live) {
	for _, h := range l.Holds() {
		j.used += h.Used
	}
	cost, err := billing.JobCost(l.Holds(), w.rates)
	if err != nil && w.err == nil {
		w.err = err
	}
	j.cost = cost
}

// mostWorkflows is the most workflows with figures of their own.
const mostWorkflows = 200

// figures returns what became of the workflows. free are the places of steps without GPUs, which no event
// tells of.
func (w *stageWatch) figures(r *Run) *outcome.Stages {
	out := outcome.StagesOf(r.Result.Stages)
	order, kinds := w.groups()
	for _, name := range order {
		if len(out.Workflows) == mostWorkflows {
			out.LeftOut = len(order) - mostWorkflows
			break
		}
		f := kindFigures{w: w, r: r, out: outcome.Workflow{Name: name}, rows: map[string]int{}}
		f.caps(r.Case.Scenario.Workflows)
		for _, run := range kinds[name] {
			f.add(run)
		}
		out.Workflows = append(out.Workflows, f.close())
	}
	return out
}

// groups returns the names of the workflows in order of their first job, and the runs of each: the places
// of their jobs.
func (w *stageWatch) groups() (order []string, kinds map[string][][]int) {
	kinds = map[string][][]int{}
	type place struct {
		kind string
		at   int
	}
	runs := map[string]place{}
	for i := range w.list {
		s := w.list[i].Stage
		if s == nil || s.Workflow == "" {
			continue
		}
		name := cmp.Or(s.Of, s.Workflow)
		p, known := runs[s.Workflow]
		if !known {
			if len(kinds[name]) == 0 {
				order = append(order, name)
			}
			p = place{name, len(kinds[name])}
			runs[s.Workflow] = p
			kinds[name] = append(kinds[name], nil)
		}
		kinds[p.kind][p.at] = append(kinds[p.kind][p.at], i)
	}
	return order, kinds
}

// kindFigures sums the runs of one workflow.
type kindFigures struct {
	w      *stageWatch
	r      *Run
	out    outcome.Workflow
	rows   map[string]int // index of a stage in out.Stages
	cost   capcli.USD
	costs  []capcli.USD // by stage
	most   capcli.USD   // of a run
	limits map[string]capcli.USD
	slacks []int64 // jobs counted in Slack
	waits  []int64 // jobs counted in Wait
	sample []int   // a run that ended well
}

// caps notes the dollars that the scenario states for the workflow.
func (f *kindFigures) caps(all []generate.Workflow) {
	f.limits = map[string]capcli.USD{}
	for i := range all {
		if all[i].Name == f.out.Name {
			f.most = all[i].Dollars
			for _, s := range all[i].Stages {
				f.limits[s.Name] = s.Dollars
			}
		}
	}
}

func (f *kindFigures) row(name string) int {
	k, known := f.rows[name]
	if !known {
		k = len(f.out.Stages)
		f.rows[name] = k
		f.out.Stages = append(f.out.Stages, outcome.Stage{Workflow: f.out.Name, Name: name})
		f.costs, f.slacks, f.waits = append(f.costs, 0), append(f.slacks, 0), append(f.waits, 0)
	}
	return k
}

func (f *kindFigures) add(run []int) {
	f.out.Runs++
	open, well, due, missed := false, true, false, false
	var cost capcli.USD
	costs := make([]capcli.USD, len(f.out.Stages))
	for _, i := range run {
		j, job := &f.w.jobs[i], &f.w.list[i]
		f.w.fillStep(f.r, i)
		k := f.row(job.Stage.Name)
		if k >= len(costs) {
			costs = append(costs, 0)
		}
		late := f.addJob(k, j, job)
		due = due || job.Deadline.IsKnown() && job.Deadline != 0
		missed = missed || late
		open, well = open || !j.ended, well && j.well
		cost += j.cost
		costs[k] += j.cost
	}
	if f.cost += cost; f.most > 0 && cost > f.most {
		f.out.OverCost++
	}
	for k, c := range costs {
		if f.costs[k] += c; f.limits[f.out.Stages[k].Name] > 0 && c > f.limits[f.out.Stages[k].Name] {
			f.out.Stages[k].OverCost++
		}
	}
	f.out.Due += int64(capcli.Bit(due))
	f.out.Missed += int64(capcli.Bit(missed))
	switch {
	case open:
		f.out.Open++
	case well:
		f.out.Finished++
		f.addPath(run)
	default:
		f.out.Broken++
	}
}

// addJob counts one job in row k, and reports whether it missed its deadline.
func (f *kindFigures) addJob(k int, j *stageJob, job *capcli.Job) (late bool) {
	s := &f.out.Stages[k]
	s.Jobs++
	s.Retries += int64(j.retries)
	s.Used += j.used
	f.out.Used += j.used
	switch {
	case j.ended && j.well:
		s.Finished++
	case j.ended && j.never:
		s.Cancelled++
	case j.ended:
		s.Failed++
	}
	if j.ended && !j.never {
		s.Wait += float64(j.queued)
		f.waits[k]++
	}
	if !job.Deadline.IsKnown() || job.Deadline == 0 {
		return false
	}
	s.Due++
	at := f.r.Result.Ended
	if j.ended {
		at = j.end
	}
	start := f.r.Result.Record.Start
	late = start+capcli.Time(at) > job.Deadline || j.ended && !j.well
	s.Missed += int64(capcli.Bit(late))
	return late
}

func (f *kindFigures) close() outcome.Workflow {
	n := max(1, float64(f.out.Finished))
	f.out.Length /= n
	f.out.Least /= n
	priced := f.r.Priced()
	if priced {
		f.out.Cost = &f.cost
	}
	for k := range f.out.Stages {
		s := &f.out.Stages[k]
		s.Critical /= n
		s.CriticalWait /= n
		s.Drag /= n
		s.Slack /= max(1, float64(f.slacks[k]))
		s.Wait /= max(1, float64(f.waits[k]))
		if priced {
			s.Cost = &f.costs[k]
		}
	}
	if f.sample != nil && priced {
		f.out.Faster = f.faster()
	}
	return f.out
}

// fillStep says what became of a step without GPUs, of which no event tells.
func (w *stageWatch) fillStep(r *Run, i int) {
	job, j := &w.list[i], &w.jobs[i]
	if job.GPUs > 0 || r.Case.Scenario.Jobs.CPUJobs || j.ended {
		return
	}
	at := capcli.Seconds(job.Submit - r.Result.Record.Start)
	for _, e := range w.stages.Graph.After(i) {
		before := &w.jobs[e.Job]
		w.fillStep(r, int(e.Job))
		if e.When == capcli.AfterOK && before.ended && !before.well {
			*j = stageJob{ready: before.end, start: -1, end: before.end, ended: true, never: true}
			return
		}
		if !before.ended {
			return
		}
		at = max(at, before.end+e.Delay)
	}
	if end := at + job.Run; end <= r.Result.Ended {
		*j = stageJob{ready: at, start: at, end: end, ended: true, well: !job.Stage.Fails}
	}
}

// addPath adds a run that ended well: its length, its critical path and the slack of its jobs.
func (f *kindFigures) addPath(run []int) {
	f.sample = run
	sub := make([]capcli.Job, len(run))
	begin, end := f.w.jobs[run[0]].ready, capcli.Seconds(0)
	last := 0
	for k, i := range run {
		j := &f.w.jobs[i]
		sub[k] = f.w.list[i]
		begin = min(begin, capcli.Seconds(sub[k].Submit-f.r.Result.Record.Start))
		if j.end > end {
			end, last = j.end, k
		}
	}
	f.out.Length += float64(end - begin)
	f.out.Longest = max(f.out.Longest, end-begin)
	g, err := workflow.NewGraph(sub)
	if err != nil {
		return
	}
	stay := func(k int) capcli.Seconds { return f.w.jobs[run[k]].end - f.w.jobs[run[k]].ready }
	ready := func(k int) capcli.Seconds { return f.w.jobs[run[k]].ready - begin }
	pure := func(k int) capcli.Seconds { return stay(k) - f.w.jobs[run[k]].queued }
	least := g.Times(pure, func(k int) capcli.Seconds {
		return capcli.Seconds(sub[k].Submit-f.r.Result.Record.Start) - begin
	})
	f.out.Least += float64(least.Span)
	times := g.Times(stay, ready)
	for k := range sub {
		row := f.rows[sub[k].Stage.Name]
		f.out.Stages[row].Slack += float64(times.Slack(k))
		f.slacks[row]++
	}
	f.walk(g, run, sub, last)
	f.drag(g, sub, stay)
}

// walk follows the critical path back from the job that ended last: to the dependency that was satisfied
// last, and so on.
func (f *kindFigures) walk(g *workflow.Graph, run []int, sub []capcli.Job, at int) {
	on := map[int]bool{}
	for at >= 0 {
		row := f.rows[sub[at].Stage.Name]
		if !on[row] {
			f.out.Stages[row].Critical++
		}
		on[row] = true
		f.out.Stages[row].CriticalWait += float64(f.w.jobs[run[at]].queued)
		next, latest := -1, capcli.Seconds(-1)
		for _, e := range g.After(at) {
			from := f.w.jobs[run[e.Job]].end
			if e.When == capcli.AfterStart {
				from = f.w.jobs[run[e.Job]].start
			}
			if from+e.Delay > latest {
				next, latest = int(e.Job), from+e.Delay
			}
		}
		at = next
	}
}

// drag adds to each stage by how much the run would be shorter if the stage took no time, with all waits as
// they were (Devaux, "Total Project Control", 1999).
func (f *kindFigures) drag(g *workflow.Graph, sub []capcli.Job, stay workflow.RunTime) {
	span := g.Times(stay, nil).Span
	for name, row := range f.rows {
		without := g.Times(func(k int) capcli.Seconds {
			if sub[k].Stage.Name == name {
				return 0
			}
			return stay(k)
		}, nil).Span
		f.out.Stages[row].Drag += float64(span - without)
	}
}

// faster returns what makes a run of the workflow end earlier, of stages that have ways to run, at what
// their GPU-hours cost in this run.
func (f *kindFigures) faster() []workflow.Crash {
	sub := make([]capcli.Job, len(f.sample))
	steps := make([]workflow.Step, len(f.out.Stages))
	for k, i := range f.sample {
		sub[k] = f.w.list[i]
		row := f.rows[sub[k].Stage.Name]
		steps[row].Name, steps[row].Jobs = sub[k].Stage.Name, append(steps[row].Jobs, k)
	}
	for row := range steps {
		steps[row].Options = f.options(row, &sub[steps[row].Jobs[0]])
	}
	steps = slices.DeleteFunc(steps, func(s workflow.Step) bool { return len(s.Options) < 2 })
	if len(steps) == 0 {
		return nil
	}
	g, err := workflow.NewGraph(sub)
	if err != nil {
		return nil
	}
	return g.Faster(func(k int) capcli.Seconds { return sub[k].Run }, steps)
}

// options returns the widths of a job of the stage that its shape allows, as asked first.
func (f *kindFigures) options(row int, job *capcli.Job) []workflow.Option {
	used := f.out.Stages[row].Used
	if job.Shape == nil || used == 0 {
		return nil
	}
	rate := f.costs[row].Float() / used.Hours()
	option := func(gpus int, run capcli.Seconds) workflow.Option {
		return workflow.Option{GPUs: gpus, Run: run, Cost: capcli.USDOf(rate * float64(gpus) * float64(run) / 3600)}
	}
	out := []workflow.Option{option(job.GPUs, job.Run)}
	for i := range job.Shape.Ways {
		w := &job.Shape.Ways[i]
		if w.GPUs != job.GPUs && (w.Model == "" || w.Model == job.GPUModel) {
			out = append(out, option(w.GPUs, w.RunTime(job.Run)))
		}
	}
	return out
}

// StageRows returns the stages of all workflows of the run.
func (r *Run) StageRows() (rows []outcome.Stage) {
	for i := range r.Stages.Workflows {
		rows = append(rows, r.Stages.Workflows[i].Stages...)
	}
	return rows
}
