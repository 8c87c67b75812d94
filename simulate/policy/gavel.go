package policy

import (
	"slices"

	"capcli/simulate"
	"capcli/simulate/allocate"

	"capcli"
)

func init() {
	OwnChoices.Add("objective", "gavel: what the shares of time make as good as possible", []string{"las", "finish_time_fairness"})
	OwnChoices.Add("agnostic", "gavel: decide as if all GPU models were equally fast", []string{"false", "true"})
	Catalog.Add("gavel", "jobs share the time on GPUs of all models, in rounds, by how fast they run on each (Gavel)", newGavel)
}

// gavelRound is the length of a round in the paper.
const gavelRound = 6 * capcli.Minute

// gavel shares the time on GPUs of several models among jobs by a linear program, and plays the shares in
// rounds (Narayanan et al., "Heterogeneity-Aware Cluster Scheduling Policies for Deep Learning Workloads",
// OSDI 2020, sections 4 and 5). A job keeps the number of GPUs that it asked for; its Shape says how fast
// it is on each model, and one without ways is as fast on all pools that it may use. At the first round
// after a job came or ended the shares are computed anew. In each round, model by model in the order of
// the pools, jobs get GPUs in order of their share over the rounds that they have had.
//
// The objective las makes the least of the shares that jobs have had as large as possible, and of such
// shares takes those with the largest sum. GPUs that were freed between rounds are idle until the next.
// With agnostic it does not know that models differ.
type gavel struct {
	rounds
	kinds
	objective string
	agnostic  bool

	rows     map[rowKey]*speedRow
	entrants []allocate.Entrant
	play     allocate.Round
	problem  allocate.Problem
	groups   map[groupKey]int
	member   []int // by player: its job of the problem
	workers  []int // by kind: thousandths of GPUs
	before   []int // workers when the shares were computed
	moves    []simulate.Reassignment
	buffer   []simulate.Choice
}

// gavelBelieving is a gavel whose objective looks at times left.
type gavelBelieving struct{ gavel }

// Believes declares that it uses estimates of run times.
func (*gavelBelieving) Believes() {}

// rowKey is what the speeds of a job depend on.
type rowKey struct {
	reach *simulate.Reach
	shape *capcli.Shape
	gpus  int
	milli int64
}

// speedRow is how fast jobs are on each kind of pool, and how they start there.
type speedRow struct {
	speed   []float64 // relative to the run time as submitted; 0 does not run there
	choices [][]simulate.Choice
}

// groupKey is what equal jobs of a program have in common.
type groupKey struct {
	row *speedRow
	job int64 // index of a job that is alone
}

func newGavel(s simulate.Settings) simulate.Policy {
	p := gavel{
		rounds: newRounds(s, gavelRound), objective: s.Choices["objective"], agnostic: s.Choices["agnostic"] == "true",
		rows: map[rowKey]*speedRow{}, groups: map[groupKey]int{},
	}
	switch p.objective {
	case "":
		p.objective = "las"
	case "finish_time_fairness":
		return &gavelBelieving{p}
	}
	return &p
}

// Remark implements simulate.Remarker.
func (p *gavel) Remark() string {
	return p.seen.remark("gavel takes all pools that a job may use as equally fast")
}

func (p *gavel) Schedule(t *simulate.Turn) {
	if !p.begin(t) {
		return
	}
	p.count(t)
	if p.fresh || !slices.Equal(p.workers, p.before) || len(p.entrants) == 0 {
		p.share(t)
	}
	for i := range p.field {
		e := &p.entrants[i]
		e.Keeps = 0
		if p.field[i].stays {
			e.Keeps = 1 + p.of[p.field[i].job.Pool()]
		}
	}
	p.play.Play(p.workers, p.entrants)
	p.settle(t)
	p.end(t)
}

// count counts the GPUs of each kind.
func (p *gavel) count(t *simulate.Turn) {
	if p.refresh(t) {
		clear(p.rows)
	}
	p.workers = p.workers[:0]
	for i := range p.list {
		sum := int64(0)
		for _, pool := range p.list[i].pools {
			sum += p.left[pool]
		}
		p.workers = append(p.workers, int(min(sum, allocate.MostCount))) // pools without a limit are more than can be counted
	}
}

// rowOf returns the speeds of a job.
func (p *gavel) rowOf(t *simulate.Turn, l *simulate.Live) *speedRow {
	key := rowKey{l.Reach(), l.Shape, l.AskedGPUs(), int64(l.GPUMilli)}
	if row := p.rows[key]; row != nil {
		return row
	}
	row := &speedRow{make([]float64, len(p.list)), make([][]simulate.Choice, len(p.list))}
	p.buffer = l.Ways(t.Planning().Pools(l), p.buffer[:0])
	for _, c := range p.buffer {
		k, speed := p.of[c.Pool], 1.0
		if c.Way >= 0 {
			w := &l.Shape.Ways[c.Way]
			if w.GPUs != l.AskedGPUs() {
				continue
			}
			speed = float64(w.Den) / float64(w.Num)
		}
		if k >= 0 {
			row.speed[k] = max(row.speed[k], speed)
			row.choices[k] = append(row.choices[k], c)
		}
	}
	p.rows[key] = row
	return row
}

// share computes the shares of all players.
func (p *gavel) share(t *simulate.Turn) {
	p.before = append(p.before[:0], p.workers...)
	p.problem.Workers = p.problem.Workers[:0]
	for _, n := range p.workers {
		p.problem.Workers = append(p.problem.Workers, max(1, n)) // a kind of which nothing is there has no room for anybody
	}
	p.problem.Jobs, p.member = p.problem.Jobs[:0], p.member[:0]
	clear(p.groups)
	alone := p.objective != "las"
	for i := range p.field {
		l := p.field[i].job
		key := groupKey{row: p.rowOf(t, l)}
		if alone {
			key.job = l.Index() + 1
		}
		g, known := p.groups[key]
		if !known {
			if g = len(p.problem.Jobs); slices.Max(key.row.speed) == 0 {
				g = -1
			} else {
				p.problem.Jobs = append(p.problem.Jobs, p.jobOf(t, l, key.row))
			}
			p.groups[key] = g
		} else if g >= 0 {
			p.problem.Jobs[g].Count++
		}
		p.member = append(p.member, g)
	}
	var x [][]float64
	if len(p.problem.Jobs) > 0 {
		x = p.solve()
	}
	p.enter(x)
}

// jobOf returns a job of the program. Throughputs are shares of the work that is left, a second, where the
// objective looks at that.
func (p *gavel) jobOf(t *simulate.Turn, l *simulate.Live, row *speedRow) allocate.Job {
	j := allocate.Job{Throughput: slices.Clone(row.speed), GPUs: int(l.Milli()), Count: 1}
	if p.objective == "las" {
		return j
	}
	done := float64(l.Believed - l.LeftBelieved(t.Now()))
	j.Steps, j.Elapsed = float64(l.LeftBelieved(t.Now())), float64(t.Now()-l.Submitted)
	if w := l.Way(); w >= 0 { // a running job is in seconds of its way
		back := float64(l.Shape.Ways[w].Den) / float64(l.Shape.Ways[w].Num)
		j.Steps, done = j.Steps*back, done*back
	}
	j.Isolated = max(0, done)
	return j
}

// solve returns the shares of each job of the program.
func (p *gavel) solve() [][]float64 {
	for m := range p.problem.Jobs { // work that is done counts at the speed of an equal share
		if j := &p.problem.Jobs[m]; j.Isolated > 0 {
			j.Isolated /= p.problem.IsolatedThroughput(m)
		}
	}
	problem, o := &p.problem, allocate.Options{}
	if p.agnostic {
		problem, o.Even = problem.Agnostic(), true
	}
	r, err := allocate.Solve(problem, p.objective, o)
	if err != nil {
		panic("simulate/policy: gavel asked for shares that have no meaning: " + err.Error())
	}
	return r.X
}

// enter makes an entrant of each player.
func (p *gavel) enter(x [][]float64) {
	p.entrants = slices.Grow(p.entrants[:0], len(p.field))[:len(p.field)]
	for i := range p.entrants {
		e := &p.entrants[i]
		e.GPUs = int(p.field[i].job.Milli())
		e.Shares = append(e.Shares[:0], make([]allocate.Share, len(p.list))...)
		e.Received = append(e.Received[:0], make([]int64, len(p.list))...)
		e.Type = -1
		if g := p.member[i]; g >= 0 {
			for k, v := range x[g] {
				e.Shares[k] = allocate.ShareOf(v)
			}
		}
	}
}

// settle preempts, moves and starts jobs as the round says.
func (p *gavel) settle(t *simulate.Turn) {
	p.moves = p.moves[:0]
	for i := range p.field {
		f, e := &p.field[i], &p.entrants[i]
		if !f.running || f.stays {
			continue
		}
		switch l := f.job; {
		case e.Type < 0:
			t.Preemption().Preempt(l)
		case e.Type != p.of[l.Pool()]:
			p.moves = append(p.moves, simulate.Reassignment{Job: l, To: slices.Clone(p.rowOf(t, l).choices[e.Type])})
		}
	}
	t.Ways().Reassign(p.moves)
	short := uint64(0) // kinds without room for a job that was to start
	for i := range p.field {
		f, e := &p.field[i], &p.entrants[i]
		if f.running || e.Type < 0 {
			continue
		}
		if !p.start(t, f.job, e.Type) {
			e.Received[e.Type]--
			short |= 1 << e.Type
		}
	}
	for k := range p.list {
		if short>>k&1 == 1 {
			p.repack(t, k)
		}
	}
}

// start starts a waiting job on a kind of pool.
func (p *gavel) start(t *simulate.Turn, l *simulate.Live, kind int) bool {
	p.buffer = append(p.buffer[:0], p.rowOf(t, l).choices[kind]...)
	t.Ways().SortByCost(l, p.buffer)
	for _, c := range p.buffer {
		if t.Ways().StartAs(l, c) {
			return true
		}
	}
	return false
}

// repack makes room on a kind of pool on which free GPUs lie apart: it places all of the round's jobs there
// anew, wide ones first. What is free then goes to others with a share, in order of arrival.
func (p *gavel) repack(t *simulate.Turn, kind int) {
	p.moves = p.moves[:0]
	if !t.Planning().CountsGPUs() {
		for i := range p.field {
			f, e := &p.field[i], &p.entrants[i]
			if e.Type != kind || f.stays || f.running && !f.job.Running() || !f.running && f.job.Running() {
				continue
			}
			choices := p.rowOf(t, f.job).choices[kind]
			if f.job.Running() {
				choices = slices.Clone(choices)
			}
			p.moves = append(p.moves, simulate.Reassignment{Job: f.job, To: choices})
		}
		slices.SortStableFunc(p.moves, func(a, b simulate.Reassignment) int { return int(b.Job.Milli() - a.Job.Milli()) })
		t.Ways().Reassign(p.moves)
	}
	for i := range p.field {
		f, e := &p.field[i], &p.entrants[i]
		if !f.running && f.job.Waiting() && e.Shares[kind].Num > 0 && p.start(t, f.job, kind) {
			e.Received[kind]++
		}
	}
}
