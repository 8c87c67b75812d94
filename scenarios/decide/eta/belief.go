package eta

import "capcli"

// beliefs says how long jobs last, as known at a moment.
type beliefs struct {
	log    *Log
	ended  int              // jobs of log.byEnd that have ended
	latest [][2]int         // the two jobs of each tenant that ended last; -1 is none
	sum    float64          // run seconds of all ended jobs
	limits []capcli.Seconds // believed with the user's limit, by job
	runs   []capcli.Seconds // believed from the tenant's last runs, by job
}

func newBeliefs(l *Log) *beliefs {
	b := &beliefs{
		log: l, latest: make([][2]int, l.tenantN),
		limits: make([]capcli.Seconds, len(l.Jobs)), runs: make([]capcli.Seconds, len(l.Jobs)),
	}
	for i := range b.latest {
		b.latest[i] = [2]int{-1, -1}
	}
	return b
}

// learn takes in the jobs that ended by now.
func (b *beliefs) learn(now capcli.Time) {
	l := b.log
	for b.ended < len(l.byEnd) && l.Jobs[l.byEnd[b.ended]].End <= now {
		i := l.byEnd[b.ended]
		b.ended++
		b.sum += float64(l.Jobs[i].run())
		two := &b.latest[l.tenants[i]]
		two[0], two[1] = i, two[0]
	}
}

// believe sets how long job i is believed to last: its limit, and the smaller of its limit and the
// mean of its tenant's last two runs that have ended, at least a second (Tsafrir, Etsion,
// Feitelson, "Backfilling Using System-Generated Predictions Rather than User Runtime Estimates",
// TPDS 2007). Without any run that is the limit. Without a limit it is the mean run of all jobs, an
// hour before any has ended.
func (b *beliefs) believe(i int) {
	j := &b.log.Jobs[i]
	b.learn(j.Queued)
	limit := j.Limit
	if limit <= 0 {
		limit = capcli.Hour
		if b.ended > 0 {
			limit = max(1, capcli.Seconds(b.sum/float64(b.ended)))
		}
	}
	b.limits[i], b.runs[i] = limit, limit
	two := b.latest[b.log.tenants[i]]
	if two[0] < 0 {
		return
	}
	run := b.log.Jobs[two[0]].run()
	if two[1] >= 0 {
		run = (run + b.log.Jobs[two[1]].run()) / 2
	}
	b.runs[i] = max(1, capcli.Seconds(run))
	if j.Limit > 0 {
		b.runs[i] = min(b.runs[i], max(1, limit))
	}
}

// replay plays the state at the submission of one job forward, twice.
type replay struct {
	player  Player
	running []Running
	waiting []Waiting
}

// waits returns the wait of job i with the users' limits and with the predicted runs.
func (r *replay) waits(b *beliefs, i int, s *queueState) (limits, predicted capcli.Seconds) {
	limits = r.wait(b, i, s, b.limits)
	return limits, r.wait(b, i, s, b.runs)
}

func (r *replay) wait(b *beliefs, i int, s *queueState, lasts []capcli.Seconds) capcli.Seconds {
	now := b.log.Jobs[i].Queued
	r.running, r.waiting = r.running[:0], r.waiting[:0]
	for _, k := range s.running {
		j := &b.log.Jobs[k]
		r.running = append(r.running, Running{Units: j.Units, End: BelievedEnd(now, j.Start, lasts[k], j.Limit)})
	}
	for _, k := range s.waiting {
		r.waiting = append(r.waiting, Waiting{Units: b.log.Jobs[k].Units, Lasts: max(1, lasts[k])})
	}
	return capcli.Seconds(r.player.Forward(b.log.capacityAt(i, s), now, r.running, r.waiting) - now)
}
