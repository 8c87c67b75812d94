package scenarios

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/generate"
	"capcli/scenarios/strict"
)

// Limits of workflows.
const (
	maxWorkflows = 200
	maxTrials    = 10_000
	maxRuns      = 100_000
)

func readStages(s *Scenario) strict.Reader {
	section := workflowSection
	section.Check = func(o *strict.Object, w *generate.Workflow) {
		checkWorkflow(o, w, s.Workflows)
		s.workflowObjects = append(s.workflowObjects, o)
	}
	return func(d *strict.Decoder, n *yaml.Node) {
		d.ReadList(n, maxWorkflows, "workflows", func(_ int, n *yaml.Node) {
			var w generate.Workflow
			if section.Read(d, n, &w) != nil {
				s.Workflows = append(s.Workflows, w)
			}
		})
	}
}

// readSweeps reads the sweeps that are no stage of a larger workflow: each is a workflow of one stage.
func readSweeps(s *Scenario) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		d.ReadList(n, maxWorkflows, "sweeps", func(_ int, n *yaml.Node) {
			w, st, sw := generate.Workflow{}, generate.Stage{}, generate.Sweep{}
			fields := slices.Concat([]strict.Field{{Name: "name", Doc: "its name", Read: strict.Name(&w.Name)}}, workflowFields(&w), sweepJobFields(&st), sweepFields(&sw))
			o := d.ReadObject(n, "sweeps", fields)
			if o.Require("name", "gpus", "run", "trials"); o == nil {
				return
			}
			checkSweep(o, &sw)
			st.Name, st.Sweep = "trial", &sw
			w.Stages = []generate.Stage{st}
			checkTwice(o, w.Name, s.Workflows)
			s.workflowObjects = append(s.workflowObjects, o)
			s.Workflows = append(s.Workflows, w)
		})
	}
}

func checkTwice(o *strict.Object, name string, have []generate.Workflow) {
	if slices.ContainsFunc(have, func(w generate.Workflow) bool { return w.Name == name }) {
		o.Fault("name", "workflow %s is there twice, among stages and sweeps", capcli.Quoted(name))
	}
}

var workflowSection = strict.Section[generate.Workflow]{Name: "stages", Needs: []string{"name", "stages"}, Fields: func(w *generate.Workflow) []strict.Field {
	return append([]strict.Field{
		{Name: "name", Doc: "its name, the stem of its jobs' ids", Read: strict.Name(&w.Name)},
		{Name: "stages", Doc: "its steps in order: [{name: pre-train, gpus: 64, run: 8d}, {name: align, gpus: 8, run: 12h}]", Read: stageList(&w.Stages)},
	}, workflowFields(w)...)
}}

func workflowFields(w *generate.Workflow) []strict.Field {
	return []strict.Field{
		{Name: "tenants", Doc: "who pays, drawn for each run: [{name: research, weight: 2}]", Read: workTenantSection.List(&w.Tenants, maxTenants, "tenants")},
		{Name: "from", Doc: "the first run begins this long after the start", Read: strict.Duration(&w.From, 0)},
		{Name: "every", Doc: "from the start of one run to the next; default: one run", Read: strict.Duration(&w.Every, 1)},
		{Name: "runs", Doc: "most runs; default: as many as begin in the period", Read: strict.Integer(&w.Runs, 1, maxRuns)},
		{Name: "priority", Doc: "of its jobs; larger is more urgent", Read: strict.Integer(&w.Priority, -1_000_000, 1_000_000)},
		{Name: "deadline", Doc: "each run ends so long after it begins, or misses its deadline", Read: strict.Duration(&w.Deadline, 1)},
		{Name: "dollars", Doc: "what a run may cost; it is compared, and stops nothing", Read: money(&w.Dollars)},
	}
}

// stageList reads the stages of a workflow and puts the stage before in the place of a missing after.
func stageList(dst *[]generate.Stage) strict.Reader {
	lines := map[string]int{}
	var objects []*strict.Object
	section := stageSection
	section.Check = func(o *strict.Object, st *generate.Stage) {
		if line, twice := lines[st.Name]; twice && st.Name != "" {
			o.Fault("name", "stage %s is there twice, first in line %d", capcli.Quoted(st.Name), line)
		}
		if lines[st.Name] = o.Node.Line; !o.Has("after") && len(*dst) > 0 {
			st.After = []string{(*dst)[len(*dst)-1].Name}
		}
		checkStage(o, st)
		objects = append(objects, o)
	}
	list := section.List(dst, maxList, "stages")
	return func(d *strict.Decoder, n *yaml.Node) {
		list(d, n)
		if len(objects) == len(*dst) {
			checkOrder(objects, *dst)
		}
	}
}

var stageSection = strict.Section[generate.Stage]{Name: "stages.stages", Needs: []string{"name", "run"}, Fields: func(s *generate.Stage) []strict.Field {
	return append([]strict.Field{
		{Name: "name", Doc: "its name within the workflow", Read: strict.Name(&s.Name)},
		{Name: "jobs", Doc: "jobs of it at once; default: 1", Read: strict.Integer(&s.Jobs, 1, maxTrials)},
		{Name: "after", Doc: "stages that must end before: [pre-train]; default: the one before it; [] is none", Read: strict.Names(&s.After, "stages")},
		{Name: "when", Doc: "how they must end: " + strings.Join(generate.Whens, ", ") + "; default: ok, some after a sweep", Read: strict.Choice(&s.When, "end", generate.Whens...)},
		{Name: "deadline", Doc: "so long after the run begins", Read: strict.Duration(&s.Deadline, 1)},
		{Name: "dollars", Doc: "what the stage of a run may cost; it is compared, and stops nothing", Read: money(&s.Dollars)},
		{Name: "sweep", Doc: "its jobs are the trials of a sweep: {trials: 32, max_parallel: 8, stop: halving}", Read: sweepSection.Pointer(&s.Sweep)},
	}, sweepJobFields(s)...)
}}

func sweepJobFields(s *generate.Stage) []strict.Field {
	return []strict.Field{
		{Name: "gpus", Doc: "GPUs of each job; 0 is a step without GPUs, which takes its time and no capacity", Read: strict.Integer(&s.GPUs, 0, maxGPUs)},
		{Name: "gpu_model", Doc: "model wanted; default: any", Read: strict.Name(&s.GPUModel)},
		{Name: "partition", Doc: "where they are sent", Read: strict.Name(&s.Partition)},
		{Name: "class", Doc: "kind of work, for checkpoints and shapes; default: the name of the stage", Read: strict.Name(&s.Class)},
		{Name: "run", Doc: "run time of each, or its median", Read: strict.Duration(&s.Run, 1)},
		{Name: "run_p95", Doc: "95th percentile of the run times, which are log-normal then", Read: strict.Duration(&s.RunP95, 1)},
		{Name: "limit", Doc: "time asked for, which the scheduler believes", Read: strict.Duration(&s.Limit, 1)},
		{Name: "fails", Doc: "probability that a try ends in failure, at its end", Read: strict.Number(&s.Fails, 0, 1)},
		{Name: "retries", Doc: "times that a failed job is tried again", Read: strict.Integer(&s.Retries, 0, 1000)},
	}
}

var sweepSection = strict.Section[generate.Sweep]{Name: "sweep", Needs: []string{"trials"}, Fields: sweepFields, Check: checkSweep}

func sweepFields(s *generate.Sweep) []strict.Field {
	return []strict.Field{
		{Name: "trials", Doc: "jobs of the sweep", Read: strict.Integer(&s.Trials, 1, maxTrials)},
		{Name: "max_parallel", Doc: "trials submitted at once; a further one comes when one has ended; default: all", Read: strict.Integer(&s.MaxParallel, 1, maxTrials)},
		{Name: "stop", Doc: "end trials that do badly: halving (ASHA) or median; default: none", Read: strict.Choice(&s.Stop, "rule", "halving", "median")},
		{Name: "keep", Doc: "halving: one of so many trials goes on at each rung; default: 4", Read: strict.Integer(&s.Keep, 2, 1000)},
		{Name: "grace", Doc: "median: trials that report before one is judged; default: 5", Read: strict.Integer(&s.Grace, 1, maxTrials)},
		{Name: "rungs", Doc: "shares of a trial's run time at which losses are compared; default: [0.0625, 0.25, 0.5]", Read: numbers(&s.Rungs, maxList, 1e-6, 0.999999)},
		{Name: "losses", Doc: "losses of each trial at the rungs, smaller is better: [[0.9, 0.5, 0.4], …]; default: drawn", Read: lossList(&s.Losses)},
	}
}

// numbers reads a list of numbers, most at the most.
func numbers(dst *[]float64, most int, lo, hi float64) strict.Reader {
	return strict.List(dst, most, "numbers", func(v *float64) strict.Reader { return strict.Number(v, lo, hi) })
}

func lossList(dst *[][]float64) strict.Reader {
	return strict.List(dst, maxTrials, "losses of trials", func(row *[]float64) strict.Reader { return numbers(row, maxList, 0, 1e18) })
}

func checkSweep(o *strict.Object, s *generate.Sweep) {
	for i := 1; i < len(s.Rungs); i++ {
		if s.Rungs[i] <= s.Rungs[i-1] {
			o.Fault("rungs", "rungs must grow, but %g comes after %g", s.Rungs[i], s.Rungs[i-1])
			return
		}
	}
	if s.Stop == "" {
		o.FaultEach([]string{"keep", "grace", "rungs", "losses"}, "%s is of a rule that ends trials early; state stop: halving or median")
		return
	}
	rungs := len(s.Rungs)
	rungs = cmp.Or(rungs, generate.RungsDefault)
	for k, row := range s.Losses {
		if len(row) != rungs {
			o.Fault("losses", "trial %d has %d losses, want one for each of %d rungs", k+1, len(row), rungs)
			return
		}
	}
}

func checkStage(o *strict.Object, s *generate.Stage) {
	switch {
	case s.Sweep != nil && s.Jobs > 0:
		o.FaultName("jobs", "the jobs of a sweep are its trials; leave jobs out")
	case s.RunP95 > 0 && s.RunP95 < s.Run:
		o.Fault("run_p95", "the 95th percentile is below the median of %s", s.Run)
	case s.Retries > 0 && s.Fails == 0:
		o.FaultName("retries", "retries are of stages that fail; state fails: 0.1")
	}
}

// checkOrder refuses stages that wait for unknown stages, or for each other in a circle.
func checkOrder(objects []*strict.Object, stages []generate.Stage) {
	at := map[string]int{}
	var names []string
	for i := range stages {
		at[stages[i].Name] = i
		names = append(names, stages[i].Name)
	}
	for i := range stages {
		for _, a := range stages[i].After {
			if _, known := at[a]; !known {
				objects[i].Fault("after", "no stage is called %s%s", capcli.Quoted(a), capcli.DidYouMean(a, names))
				return
			}
		}
	}
	seen := make([]int8, len(stages)) // 1 on the way, 2 done
	var way []string
	var visit func(i int) bool
	visit = func(i int) bool {
		way = append(way, stages[i].Name)
		if seen[i] == 1 {
			way = way[slices.Index(way, stages[i].Name):]
			objects[i].Fault("after", "the stages wait for each other in a circle: %s", strings.Join(way, " after "))
			return true
		}
		if seen[i] == 0 {
			seen[i] = 1
			for _, a := range stages[i].After {
				if visit(at[a]) {
					return true
				}
			}
			seen[i] = 2
		}
		way = way[:len(way)-1]
		return false
	}
	for i := range stages {
		if visit(i) {
			return
		}
	}
}

func checkWorkflow(o *strict.Object, w *generate.Workflow, have []generate.Workflow) {
	checkTwice(o, w.Name, have)
	if len(w.Stages) == 0 && o.IsClean("stages") && o.Has("stages") {
		o.Fault("stages", "a workflow needs at least one stage")
	}
}

// checkWorkflows checks the workflows against the rest of the scenario.
func (s *Scenario) checkWorkflows(top *strict.Object) {
	objects := s.workflowObjects
	s.workflowObjects = nil
	if len(s.Workflows) > 0 && s.Kueue != nil {
		top.FaultName("kueue", "kueue cannot be in a scenario with stages or sweeps")
		return
	}
	if s.Period.IsKnown() || s.Jobs.Generate != nil || len(objects) != len(s.Workflows) {
		return
	}
	for i, w := range s.Workflows {
		if w.Every > 0 && w.Runs == 0 {
			objects[i].FaultName("every", "without a period, state how many runs there are: runs: 10")
		}
	}
}

// Staged returns the jobs of the scenario's workflows in order of submission. first is when the other jobs
// begin; NoTime if there are none.
func (s *Scenario) Staged(first capcli.Time, o Options) []capcli.Job {
	start, end := first, capcli.NoTime
	switch g := s.Jobs.Generate; {
	case s.Period.IsKnown():
		start, end = s.Period.Start, s.Period.End
	case g != nil:
		start, end = g.Start, g.Start+capcli.Time(g.Span)
	case !first.IsKnown():
		start = defaultStart
	}
	var out []capcli.Job
	for i := range s.Workflows {
		out = append(out, s.Workflows[i].Play(start, end, o.seed())...)
	}
	slices.SortStableFunc(out, func(a, b capcli.Job) int { return int(min(1, max(-1, a.Submit-b.Submit))) })
	return out
}

// defaultStart is when the workflows of a scenario begin that has no period and no other jobs.
const defaultStart = capcli.Time(1_767_225_600) // 2026-01-01
