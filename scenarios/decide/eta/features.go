package eta

import (
	"math"

	"capcli"
)

// past keeps what was seen of jobs with one key: their waits and how wrong the replay was, on the
// log scale.
type past struct {
	waits, errors recent
	lastStart     capcli.Time
}

func newPast() *past {
	return &past{waits: recent{n: 30}, errors: recent{n: 30}, lastStart: capcli.NoTime}
}

// describer makes the features of jobs from what is known at their submission.
type describer struct {
	log     *Log
	beliefs *beliefs
	replays *Replays

	started    int // jobs of log.byStart that have started
	every      *past
	limitError recent // of the replay with limits
	tenants    []*past
	partitions []*past
	sizes      map[int]*past
	alike      map[[2]int]*past // by tenant and size
	submitted  []int            // jobs of each tenant so far
}

func newDescriber(l *Log, b *beliefs, r *Replays) *describer {
	d := &describer{
		log: l, beliefs: b, replays: r, every: newPast(), limitError: recent{n: 30},
		tenants: make([]*past, l.tenantN), partitions: make([]*past, l.partitionN),
		sizes: map[int]*past{}, alike: map[[2]int]*past{}, submitted: make([]int, l.tenantN),
	}
	return d
}

// octave returns the power of two of a size.
func octave(units int64) int { return int(math.Log2(float64(max(units, 1)))) }

// learn takes in the jobs that started before now.
func (d *describer) learn(now capcli.Time) {
	l := d.log
	for ; d.started < len(l.byStart) && l.Jobs[l.byStart[d.started]].Start < now; d.started++ {
		i := l.byStart[d.started]
		j := &l.Jobs[i]
		w := logWait(float64(j.Wait()))
		e := w - logWait(float64(d.replays.Predicted[i]))
		d.limitError.add(w - logWait(float64(d.replays.Limits[i])))
		for _, p := range d.pasts(i) {
			p.waits.add(w)
			p.errors.add(e)
			p.lastStart = j.Start
		}
	}
}

// pasts returns what is kept of jobs like job i: all, of its tenant, its size, both, its partition.
func (d *describer) pasts(i int) [5]*past {
	l := d.log
	size := octave(l.Jobs[i].Units / l.PerGPU)
	tenant, partition := &d.tenants[l.tenants[i]], &d.partitions[l.partitions[i]]
	if *tenant == nil {
		*tenant = newPast()
	}
	if *partition == nil {
		*partition = newPast()
	}
	if d.sizes[size] == nil {
		d.sizes[size] = newPast()
	}
	key := [2]int{l.tenants[i], size}
	if d.alike[key] == nil {
		d.alike[key] = newPast()
	}
	return [5]*past{d.every, *tenant, d.sizes[size], d.alike[key], *partition}
}

// meanOf returns the mean of the last n values; -1 if there is none.
func meanOf(r *recent, n int) float64 {
	v := r.tail()
	v = v[max(0, len(v)-n):]
	if len(v) == 0 {
		return -1
	}
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// highestOf returns the largest of the last n values; -1 if there is none.
func highestOf(r *recent, n int) float64 {
	most := -1.0
	v := r.tail()
	for _, x := range v[max(0, len(v)-n):] {
		most = max(most, x)
	}
	return most
}

// sinceStart returns the log of the time since the last start; -1 if there is none.
func sinceStart(p *past, now capcli.Time) float64 {
	if !p.lastStart.IsKnown() {
		return -1
	}
	return logWait(float64(now - p.lastStart))
}

// queueSums are sums over the jobs that run and wait.
type queueSums struct {
	held, heldTenant, heldPartition, runningTenant  float64
	waiting, waitingUnits, waitingWork              float64
	waitingTenant, waitingTenantUnits, oldestTenant float64
	waitingPartition, waitingPartitionUnits         float64
	fit, oldestFit, oldest, alike, oldestAlike      float64
}

func (d *describer) sums(i int, s *queueState) queueSums {
	l := d.log
	j := &l.Jobs[i]
	var q queueSums
	for _, k := range s.running {
		units := float64(l.Jobs[k].Units)
		q.held += units
		if l.tenants[k] == l.tenants[i] {
			q.heldTenant += units
			q.runningTenant++
		}
		if l.partitions[k] == l.partitions[i] {
			q.heldPartition += units
		}
	}
	free := float64(l.capacityAt(i, s)) - q.held
	for _, k := range s.waiting[:len(s.waiting)-1] {
		o := &l.Jobs[k]
		units, age := float64(o.Units), float64(j.Queued-o.Queued)
		q.waiting++
		q.waitingUnits += units
		q.waitingWork += units * float64(d.beliefs.limits[k])
		q.oldest = max(q.oldest, age)
		if units <= free {
			q.fit++
			q.oldestFit = max(q.oldestFit, age)
		}
		if l.partitions[k] == l.partitions[i] {
			q.waitingPartition++
			q.waitingPartitionUnits += units
		}
		if l.tenants[k] == l.tenants[i] {
			q.waitingTenant++
			q.waitingTenantUnits += units
			q.oldestTenant = max(q.oldestTenant, age)
			if o.Units == j.Units {
				q.alike++
				q.oldestAlike = max(q.oldestAlike, age)
			}
		}
	}
	return q
}

// features returns what is known of job i at its submission. s is the state of the queue then.
func (d *describer) features(i int, s *queueState) []float32 {
	l := d.log
	j := &l.Jobs[i]
	d.learn(j.Queued)
	q := d.sums(i, s)
	p := d.pasts(i)
	every, tenant, size, alike, partition := p[0], p[1], p[2], p[3], p[4]
	free := float64(l.capacityAt(i, s)) - q.held
	plusOne := func(v float64) float64 { return math.Log10(v + 1) }
	all := []float64{
		logWait(float64(d.replays.Limits[i])), logWait(float64(d.replays.Predicted[i])),
		plusOne(float64(j.Units)), plusOne(float64(d.beliefs.limits[i])), plusOne(float64(d.beliefs.runs[i])),
		free, free - float64(j.Units), q.heldTenant, q.runningTenant,
		q.waiting, q.waitingUnits, plusOne(q.waitingWork), q.waitingTenant, q.waitingTenantUnits,
		q.fit, logWait(q.oldestFit), logWait(q.oldestTenant), logWait(q.oldest), q.alike, logWait(q.oldestAlike),
		meanOf(&tenant.waits, 5), meanOf(&tenant.waits, 30), meanOf(&alike.waits, 5), meanOf(&size.waits, 20), meanOf(&every.waits, 20),
		highestOf(&tenant.waits, 10), highestOf(&alike.waits, 5), meanOf(&tenant.waits, 1), meanOf(&alike.waits, 1), meanOf(&size.waits, 1),
		meanOf(&tenant.errors, 10), meanOf(&every.errors, 30), meanOf(&d.limitError, 30),
		float64(j.Queued % 86400), float64(j.Queued / 86400 % 7), float64(d.submitted[l.tenants[i]]),
		sinceStart(every, j.Queued), sinceStart(size, j.Queued), sinceStart(tenant, j.Queued),
	}
	if l.partitionN > 1 {
		all = append(all, q.heldPartition, q.waitingPartition, q.waitingPartitionUnits, sinceStart(partition, j.Queued),
			meanOf(&partition.waits, 5), meanOf(&partition.waits, 30), meanOf(&partition.errors, 10), highestOf(&partition.waits, 10))
	}
	d.submitted[l.tenants[i]]++
	return capcli.Map(all, func(v float64) float32 { return float32(v) })
}
