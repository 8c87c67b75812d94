package simulate

import (
	"cmp"
	"slices"

	"capcli"
)

func init() {
	Policies.Add("easy", "first come, first served; later jobs may go ahead if they do not delay the first that waits", func(Settings) Policy { return &easy{} })
	Policies.Add("easy-sjbf", "easy, with the shortest of the later jobs tried first", func(Settings) Policy { return &easy{shortest: true} })
}

// easy is EASY backfilling (Lifka, "The ANL/IBM SP Scheduling System", JSSPP
// 1995; Mu'alem and Feitelson, TPDS 12:6, 2001). Jobs start in order until one,
// the head, does not fit. The head is promised the earliest instant at which,
// by what is believed of the running jobs, it will fit: the shadow time. A
// later job may start now if it is believed to end by then, or if it needs only
// GPUs that the head will leave over. The promise is made anew at each turn, so
// jobs that end early move it forward.
//
// With shortest, the later jobs are tried in order of their believed length
// (EASY-SJBF, Tsafrir, Etsion and Feitelson, TPDS 18:6, 2007).
type easy struct {
	shortest bool
	freed    []int64 // by pool, what running jobs have given back so far
	sorted   []entry
}

// promise is what the head of the queue is promised.
type promise struct {
	pool   int            // where it will run; -1 is nowhere as far as is known
	shadow capcli.Seconds // when
	extra  int64          // thousandths of GPUs that it leaves over then
}

func (p *easy) Schedule(t *Turn) {
	var head *Live
	for l := range t.Queue() {
		if !t.Start(l) {
			head = l
			break
		}
	}
	if head == nil || t.Waiting() == 1 || t.room() == 0 {
		return
	}
	pr := p.promise(t, head)
	if p.shortest {
		p.backfillShortest(t, head, &pr)
		return
	}
	for en := range t.backfillable(head, &pr) {
		pr.try(t, en)
	}
}

// promise finds the pool that frees enough for head soonest. A job past its
// believed end is believed to end in the next second.
func (p *easy) promise(t *Turn, head *Live) promise {
	pools := t.Pools(head)
	c, need := t.Cluster(), head.Milli()
	p.freed = append(p.freed[:0], make([]int64, c.Pools())...)
	pr := promise{pool: -1}
	for l := range t.Running() {
		end := max(l.believes, t.Now()+1)
		if pr.pool >= 0 && end > pr.shadow {
			break
		}
		pool := int(l.slices[0].Pool)
		p.freed[pool] += l.Milli()
		if pr.pool < 0 && p.freed[pool]+c.state[pool].account.usable >= need && slices.Contains(pools, pool) {
			pr.pool, pr.shadow = pool, end
		}
	}
	if pr.pool >= 0 {
		pr.extra = p.freed[pr.pool] + c.state[pr.pool].account.usable - need
	}
	return pr
}

// may tells whether a job believed to run for est does not delay the head if
// it starts now in pool.
func (pr *promise) may(now, est capcli.Seconds, milli int64, pool int) bool {
	return pool != pr.pool || now+est <= pr.shadow || milli <= pr.extra
}

// try starts the job of en if it fits and does not delay the head.
func (pr *promise) try(t *Turn, en *entry) {
	s := t.Find(en.job)
	if len(s) == 0 {
		return
	}
	pool := int(s[0].Pool)
	if !pr.may(t.Now(), en.est, en.milli, pool) {
		return
	}
	t.e.start(en.job, s)
	if pool == pr.pool && t.Now()+en.est > pr.shadow {
		pr.extra -= en.milli
	}
}

// backfillable are the jobs behind the head that might go ahead: by their GPUs
// they fit now, and by their length or their GPUs they need not delay the head.
func (t *Turn) backfillable(head *Live, pr *promise) func(func(*entry) bool) {
	now := t.Now()
	alone := len(t.q.cell.pools) == 1
	return func(yield func(*entry) bool) {
		room := t.room()
		look := func(en *entry) bool {
			if en.milli > room || (alone && en.milli > pr.extra && now+en.est > pr.shadow) {
				return true
			}
			if en.job.state != waiting || en.job == head || en.job.overQuota() {
				return true
			}
			if !yield(en) {
				return false
			}
			if en.job.state != waiting {
				room = t.room()
			}
			return true
		}
		if !t.q.freed {
			for l := range t.Fresh() {
				if !look(&entry{l.Key, l.seq, l, l.Milli(), l.LeftBelieved(now)}) {
					return
				}
			}
			return
		}
		for _, chunk := range t.q.list.chunks {
			for i := range chunk {
				if !look(&chunk[i]) || room == 0 {
					return
				}
			}
		}
	}
}

// backfillShortest tries the candidates in order of length, ties by arrival.
func (p *easy) backfillShortest(t *Turn, head *Live, pr *promise) {
	p.sorted = p.sorted[:0]
	for en := range t.backfillable(head, pr) {
		p.sorted = append(p.sorted, *en)
	}
	slices.SortFunc(p.sorted, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.est, b.est), cmp.Compare(a.seq, b.seq))
	})
	for i := range p.sorted {
		if p.sorted[i].milli <= t.room() {
			pr.try(t, &p.sorted[i])
		}
	}
	clear(p.sorted)
}
