package policy

import (
	"capcli/simulate"

	"capcli"
)

func init() {
	OwnSettings.Add("small_run", "sla-fair: estimated run time below which a job is small; default: 1h", 1)
	OwnChoices.Add("leftover", "sla-fair: who may use what the shares and the small jobs leave: all jobs, or nobody", []string{"all", "nobody"})
	OwnChoices.Add("promise", "sla-fair: the first job without room in its team's share keeps its estimated start", []string{"true", "false"})
	Catalog.Add("sla-fair", "jobs with deadlines first, then each team up to its fair share, then small jobs into what is left", func(s simulate.Settings) simulate.Policy {
		p := &slaFair{small: s.Own["small_run"], promises: s.Choices["promise"] != "false", lean: s.Choices["leftover"] == "nobody"}
		if p.small <= 0 {
			p.small = capcli.Hour
		}
		return p
	})
}

// smallGPUs is the most GPUs of a small job.
const smallGPUs = 4

// slaFair starts jobs in three passes:
//
//  1. jobs with deadlines, the earliest first; one that does not fit is passed over;
//  2. the other jobs in order of submission, as long as their team holds less than its share; the
//     first job of a team that does not fit holds back the later ones of that team;
//  3. small jobs (at most 4 GPUs and less than small_run by their limits), whatever their team
//     holds.
//
// The share of a team is its weight, over that of all teams that have jobs, of the committed GPUs
// (of all GPUs if none are committed). A team below its share may start a job that takes it above.
// What is left then goes to all other jobs in order of submission. If leftover is nobody it stays
// free, and large jobs of a team at its share wait beside free GPUs.
//
// With promise, what follows pass 2 is EASY backfilling: the first job for which pass 2 found no
// room keeps its estimated start. Without it small jobs can delay large ones without end: see the
// guard of simulate.Config.
type slaFair struct {
	small    capcli.Seconds
	promises bool
	lean     bool // leave what is left
	capacity drf  // for its count of the queue's capacity
	easy     easy
	active   []int // by tenant: jobs that wait or run
	weight   float64
	held     []bool // by tenant: whether its jobs wait for room or for its share, in this turn
}

// Believes declares that it uses estimates of run times.
func (*slaFair) Believes() {}

// Key orders jobs with deadlines by these, before all others.
func (p *slaFair) Key(l *simulate.Live) int64 {
	if due, has := l.DueTime(); has {
		return int64(due)
	}
	return noDeadline
}

// Observe counts the jobs of each team.
func (p *slaFair) Observe(e simulate.Event, _ *simulate.Cluster) {
	switch e.Kind {
	case simulate.Arrive:
		if !e.Job.Refused() {
			p.count(e.Job.Holder(), 1)
		}
	case simulate.Finish, simulate.Drop:
		p.count(e.Job.Holder(), -1)
	default:
	}
}

// count adds n jobs of a team.
func (p *slaFair) count(t *simulate.Tenant, n int) {
	for len(p.active) <= t.Index() {
		p.active = append(p.active, 0)
	}
	was := p.active[t.Index()]
	p.active[t.Index()] += n
	switch {
	case was == 0:
		p.weight += t.Weight
	case was+n == 0:
		p.weight -= t.Weight
	}
}

func (p *slaFair) Schedule(t *simulate.Turn) {
	if p.capacity.pools != len(t.AllPools()) {
		p.capacity.count(t)
	}
	head := p.startDue(t)
	if t.Waiting() == 0 || t.Room() == 0 && !t.CPUJobs() {
		return
	}
	pr := promise{pool: -1}
	if p.promises && head != nil {
		if pr = p.easy.promise(t, head); !t.Planning().CountsGPUs() && pr.pool >= 0 {
			pr = p.easy.promiseNodes(t, head)
		}
	}
	p.backfill(t, head, &pr, true)
	if !p.lean {
		p.backfill(t, head, &pr, false)
	}
}

// backfill starts jobs in order of submission, small ones or all, that do not break the promise to
// head.
func (p *slaFair) backfill(t *simulate.Turn, head *simulate.Live, pr *promise, small bool) {
	room := t.Room()
	for w := t.Scan(); w.HasMore(); w.Next() {
		if w.Milli() > room || small && (w.Milli() > smallGPUs*1000 || w.TimeLeft() >= p.small) {
			continue
		}
		if l := w.Job(); l.Waiting() && !l.OverQuota() && l != head {
			pr.try(t, l, w.Milli(), w.TimeLeft())
			room = t.Room()
		}
	}
}

// startDue starts jobs with deadlines, then jobs of teams below their share. It returns the first
// job of such a team for which there is no room.
func (p *slaFair) startDue(t *simulate.Turn) (head *simulate.Live) {
	p.held = append(p.held[:0], make([]bool, len(t.Tenants()))...)
	for w := t.Scan(); w.HasMore(); w.Next() {
		l := w.Job()
		if !l.Waiting() || l.OverQuota() {
			continue
		}
		if w.Key() < noDeadline {
			t.Start(l)
			continue
		}
		team := l.Holder()
		if p.held[team.Index()] {
			continue
		}
		switch below := p.isBelowShare(team); {
		case below && t.Start(l):
		case below && head == nil:
			head = l
			fallthrough
		default:
			p.held[team.Index()] = true
		}
	}
	return head
}

// isBelowShare reports whether a team holds less than its share of the GPUs.
func (p *slaFair) isBelowShare(t *simulate.Tenant) bool {
	milli, _, _ := t.Holdings()
	return float64(milli)*p.weight < t.Weight*p.capacity.total[0] || milli == 0
}
