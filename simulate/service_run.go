package simulate

import (
	"fmt"
	"slices"

	"capcli"
	"capcli/simulate/internal/fluid"
)

// services are the services of a run.
//
// At an instant the steps that end then are closed first, with the decisions of their scalers; what is
// taken back frees its GPUs at once. Then the events of the instant follow. Then replicas that are wanted
// get room, before any policy has a turn, and the next steps begin: see the order in a step in the package
// simulate/serving/scale.
type services struct {
	takes   notes[*service] // which takes the GPUs of a job
	e       *engine
	list    []*service
	least   capcli.Seconds // without a period, the run lasts at least so long
	freed   bool           // replicas ask for the GPUs of jobs at the end of this instant
	trial   *Cluster       // scratch of displaceIn
	victims []*Live        // scratch of displaceIn
}

// service is a Service during a run.
type service struct {
	*Service
	run     ServiceRun
	pools   []int
	one     [1]int         // scratch
	want    Live           // the demand of a replica, for placements
	leaves  capcli.Seconds // latest end of the grace of a job that was preempted for a replica
	queue   fluid.Queue
	scaler  Scaler
	state   ScaleState
	held    []replica        // replicas that hold or have ordered GPUs, in order of getting them
	wanting []capcli.Seconds // times at which the replicas without room were wanted, oldest first
	missing capcli.Seconds   // time up to which the missing GPU time is counted
	desired int
	step    int
	began   capcli.Seconds // start of the open step
	due     capcli.Seconds // start of the next step
	open    bool
	ready   int // at the start of the open step
	loading int
	absent  int
	paid    int64 // seconds of replicas, ready and loading, of the steps with a decision
	gone    int64 // requests that replicas lost in the open step would have served
}

// stage is the stage of a replica's life.
type stage uint8

const (
	loading stage = iota
	serving
	draining
)

// replica is a replica that holds GPUs, or has ordered them.
type replica struct {
	ReplicaSpan
	stage  stage
	begun  bool // its GPUs are delivered
	slices []Slice
}

// isOn reports whether the replica has a part on node n.
func (r *replica) isOn(n int) bool {
	return slices.ContainsFunc(r.slices, func(s Slice) bool { return int(s.Node) == n })
}

// openServices makes the services of the run and wants their first replicas.
func (v *services) openServices() error {
	if len(v.e.cfg.Services) == 0 {
		return nil
	}
	for i := range v.e.cfg.Services {
		s := &service{Service: &v.e.cfg.Services[i]}
		if err := v.openService(s); err != nil {
			return err
		}
		v.list = append(v.list, s)
		v.least = max(v.least, capcli.Seconds(len(s.Load))*s.run.Length)
	}
	v.e.agenda.call(0, nothing)
	return nil
}

func (v *services) openService(s *service) error {
	s.run = ServiceRun{Name: s.Name, Length: s.Length}
	if s.run.Length <= 0 {
		s.run.Length = 60
	}
	s.want = Live{Job: capcli.Job{
		ID: s.Name, Tenant: s.Tenant, GPUs: s.GPUs, GPUMilli: s.GPUMilli, CPUMilli: s.CPUMilli, MemMiB: s.MemMiB,
		GPUModel: s.GPUModel, Partition: s.Partition, Tags: s.Tags, Class: s.Class, Submit: v.e.ledger.rec.Start, Deadline: capcli.NoTime,
	}, FirstStart: -1, Ended: -1, rc: &noRestart}
	s.pools = v.poolsOf(s.Service)
	if len(s.pools) == 0 {
		return fmt.Errorf("simulate: no pool can hold a replica of service %s", s.Name)
	}
	s.want.class = &Reach{classKey: classKey{partition: s.Partition, model: s.GPUModel}}
	for _, p := range s.pools {
		s.want.class.ranks = append(s.want.class.ranks, []int{p})
		if v.e.c.pools[p].Buy != nil {
			s.want.class.bought = append(s.want.class.bought, p)
		}
		s.want.class.most = max(s.want.class.most, v.e.c.pools[p].Capacity())
	}
	s.want.tenant = v.e.tenants.tenantOf(s.Tenant)
	if s.Tags != nil || s.want.tenant.Tags != nil {
		s.want.payer = v.e.payers.payerOf(&s.want)
		s.run.Payer = int(s.want.payer)
	}
	if s.GPUMilli > 0 && v.e.c.shares == nil {
		v.e.c.shareDevices(noJobs)
	}
	s.queue.LateSteps = s.Late
	if s.Scaler != nil {
		s.scaler = s.Scaler()
	}
	s.desired = s.Initial
	v.wantReplicas(s, s.Initial)
	return nil
}

// poolsOf returns the pools that may hold replicas of s, in order of preference. Without names these are
// the committed pools, then the others in order of overflow.
func (v *services) poolsOf(s *Service) (out []int) {
	fits := func(p int) bool {
		pool := &v.e.c.pools[p]
		return pool.Serves(s.Partition, s.GPUModel) && pool.Capacity() >= s.GPUs
	}
	for _, name := range s.Pools {
		for p := range v.e.c.pools {
			if v.e.c.pools[p].Name == name && fits(p) {
				out = append(out, p)
			}
		}
	}
	if s.Pools != nil {
		return out
	}
	for p := range v.e.c.pools {
		if fits(p) {
			out = append(out, p)
		}
	}
	rank := func(p int) int {
		if v.e.c.pools[p].Terms.Committed() {
			return -1
		}
		return v.e.c.pools[p].Rank
	}
	slices.SortStableFunc(out, func(a, b int) int { return rank(a) - rank(b) })
	return out
}

// isOpen reports whether the load of a service goes on after a time.
func (v *services) isOpen(now capcli.Seconds) bool { return now < v.least }

// milli returns the capacity of a replica in thousandths of GPUs.
func (s *service) milli() int64 { return s.Milli() }

// current returns the replicas that are wanted, loading or serving.
func (s *service) current() int {
	n := len(s.wanting)
	for i := range s.held {
		if s.held[i].stage != draining {
			n++
		}
	}
	return n
}

// step closes the steps that end now, and carries out what their scalers decide.
func (v *services) step() {
	e := v.e
	for _, s := range v.list {
		if s.open && s.due == e.c.now {
			s.closeStep(e.c.now, e.ledger.rec.Start)
			e.svc.follows(s)
		}
		e.svc.freeDrained(s)
	}
}

// closeStep serves the requests of the open step, which ends now, and asks the scaler. The last step of a
// run may be shorter than the others.
func (s *service) closeStep(now capcli.Seconds, start capcli.Time) {
	length := now - s.began
	var load int64
	if s.step < len(s.Load) {
		load = s.Load[s.step]
	}
	capacity := int64(s.ready)*s.PerReplica - s.gone
	if length < s.run.Length {
		capacity = capacity * int64(length) / int64(s.run.Length)
	}
	demand := s.queue.Backlog + load
	served := s.queue.Step(s.step, load, capacity)
	before := s.desired
	if s.scaler != nil && length == s.run.Length {
		loads := s.loading + s.absent
		s.paid += int64(s.ready+s.loading) * int64(length)
		s.state = ScaleState{
			Step: s.step, Length: length, Now: now, Start: start, Ready: s.ready, Loading: loads, PerUnit: s.PerReplica,
			Load: load, Demand: demand, Served: served, Backlog: s.queue.Backlog,
			Spent: s.paid/3600*1000 + s.paid%3600*1000/3600,
		}
		s.desired = max(0, s.scaler.Desired(&s.state))
	}
	if s.desired != before && s.step > 0 {
		s.run.Changes++
	}
	s.run.Steps = append(s.run.Steps, ServiceStep{
		Load: load, Ready: s.ready, Loading: s.loading, Missing: s.absent, Served: served, Backlog: s.queue.Backlog, Desired: s.desired,
	})
	s.open = false
	s.step++
}

// follows adds or takes back replicas so that there are as many as desired.
func (v *services) follows(s *service) {
	now := s.current()
	if s.desired > now {
		v.wantReplicas(s, s.desired-now)
		return
	}
	for range now - s.desired {
		v.takeBack(s)
	}
}

// wantReplicas wants n more replicas (less if n is below 0), which have no GPUs yet.
func (v *services) wantReplicas(s *service, n int) {
	v.wants(s, n)
	for range n {
		s.wanting = append(s.wanting, v.e.c.now)
	}
	if n < 0 {
		s.wanting = s.wanting[:len(s.wanting)+n]
	}
	v.freed = true
	v.e.buy.changed = true
}

// wants counts n more replicas without room in the accounts.
func (v *services) wants(s *service, n int) {
	v.countMissing(s)
	for _, p := range s.pools {
		if v.e.c.pools[p].PaidWhole() {
			v.e.touchPool(p)
			v.e.c.state[p].account.wanted += int64(n) * s.milli()
		}
	}
}

// countMissing counts the GPU time of replicas without room up to now.
func (v *services) countMissing(s *service) {
	s.run.Missing += capcli.GPUTime(int64(len(s.wanting)) * s.milli() * int64(v.e.c.now-s.missing))
	s.missing = v.e.c.now
}

// takeBack gives up one replica: one without room, else the newest that loads, else one that serves from
// the least preferred pool, the newest there.
func (v *services) takeBack(s *service) {
	if len(s.wanting) > 0 {
		v.wantReplicas(s, -1)
		return
	}
	best := -1
	for i := range s.held {
		r := &s.held[i]
		if r.stage == draining {
			continue
		}
		if best < 0 || s.goesBefore(r, &s.held[best]) {
			best = i
		}
	}
	r := &s.held[best]
	r.Drain = v.e.c.now
	if r.stage == serving && s.Drain > 0 {
		r.stage = draining
		v.e.agenda.call(v.e.c.now+s.Drain, nothing)
		return
	}
	v.free(s, best)
}

// goesBefore reports whether a, which got its GPUs after b, is taken back before b.
func (s *service) goesBefore(a, b *replica) bool {
	if a.stage != b.stage {
		return a.stage == loading
	}
	if a.stage == serving && a.Pool != b.Pool {
		return slices.Index(s.pools, a.Pool) > slices.Index(s.pools, b.Pool)
	}
	return true
}

// freeDrained frees the GPUs of replicas whose drain is over.
func (v *services) freeDrained(s *service) {
	if s.Drain == 0 {
		return
	}
	for i := 0; i < len(s.held); {
		if r := &s.held[i]; r.stage == draining && r.Drain+s.Drain <= v.e.c.now {
			v.free(s, i)
			continue
		}
		i++
	}
}

// settle gives room to replicas that are wanted, lets delivered ones load and loaded ones serve,
// and begins the next steps.
func (v *services) settle() {
	now := v.e.c.now
	for _, s := range v.list {
		if len(s.wanting) > 0 {
			v.roomFor(s)
		}
	}
	v.freed = false
	for _, s := range v.list {
		for i := range s.held {
			v.deliverReplica(s, &s.held[i])
		}
		if !s.open && s.due <= now {
			v.beginStep(s)
		}
	}
}

// deliverReplica ends the lead time of a replica whose GPUs have come.
func (v *services) deliverReplica(s *service, r *replica) {
	if !r.begun && r.Held <= v.e.c.now {
		r.begun = true
		if v.e.ledger.over != nil && !v.e.c.pools[r.Pool].PaidWhole() {
			v.e.ledger.over.hold(r.Pool, s.milli(), v.e.c.now)
		}
	}
}

// beginStep begins a step: replicas that have loaded serve from now on.
func (v *services) beginStep(s *service) {
	s.open, s.gone = true, 0
	s.began, s.due = s.due, s.due+s.run.Length
	s.ready, s.loading, s.absent = 0, 0, len(s.wanting)
	for i := range s.held {
		r := &s.held[i]
		if r.stage == loading && r.Ready <= v.e.c.now {
			r.stage = serving
		}
		switch r.stage {
		case loading:
			s.loading++
		case serving:
			s.ready++
		case draining:
		}
	}
	if s.absent > 0 { // jobs that run by now may make room
		v.freed = true
	}
	v.e.agenda.call(s.due, nothing)
}

// closeRun closes the open steps and the accounts of all services at the end of the run.
func (v *services) closeRun(e *engine) []ServiceRun {
	if len(v.list) == 0 {
		return nil
	}
	out := make([]ServiceRun, len(v.list))
	for i, s := range v.list {
		if s.open && e.c.now > s.began {
			s.closeStep(e.c.now, e.ledger.rec.Start)
		}
		e.svc.countMissing(s)
		for k := range s.held {
			e.svc.book(s, &s.held[k])
			s.record(&s.held[k])
		}
		slices.SortStableFunc(s.run.Replicas, func(a, b ReplicaSpan) int { return int(a.Ordered - b.Ordered) })
		q := &s.queue
		s.run.Requests, s.run.Served, s.run.Late, s.run.Backlog = q.Arrived, q.Served, q.LateByEnd(), q.Backlog
		out[i] = s.run
	}
	return out
}

// record adds the life of a replica to those of the run. What has not come to pass is never.
func (s *service) record(r *replica) {
	span := r.ReplicaSpan
	if !r.begun {
		span.Held = -1
	}
	if end := span.end(); span.Held < 0 || end >= 0 && span.Ready > end {
		span.Ready = -1
	}
	s.run.Replicas = append(s.run.Replicas, span)
}

// end returns when the replica stopped taking requests; -1 is never.
func (r *ReplicaSpan) end() capcli.Seconds {
	if r.Down >= 0 {
		return r.Down
	}
	return r.Drain
}
