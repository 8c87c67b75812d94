package slurm

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// cluster plays what slurmctld does: the main scheduler, which goes down the queue and stops a partition at
// the first job that does not fit, and sched/backfill, which plans every job that it looks at and lets a
// later one start only where it moves no plan. A plan takes whole nodes, as there.
type cluster struct {
	site     *site
	rules    *rules
	par      parameters
	nodes    []*machine
	free     room
	up       set // nodes that are neither drained nor down
	index    map[string]int
	queue    []*job   // those that wait and may start
	sorted   []record // the queue in order
	stale    bool     // whether the order may be another
	runs     []*job   // those that run, by their end by the time limit
	holdings map[string]*holding
	books    []*booking

	waiting   []*job // those that wait for a time, a dependency or a release
	enforces  bool
	dirty     bool  // whether something changed since the last pass of backfill
	dirtyMain bool  // and since the last run of the main scheduler
	moved     int64 // when a job last started or ended, in milliseconds
	scratch   scratch
	classes   map[string]int64 // of requests that are equal
	fits      map[string]fit
}

// parameters are SchedulerParameters and what else of slurm.conf decides.
type parameters struct {
	builtin, youngest                                          bool
	interval, window, resolution                               int64
	maxTest, maxUser, maxPart, maxAssoc, maxUserPart, maxStart int
	depth, reorder                                             int
	preempt, mode                                              string
	exempt, requeueAfter, memPerCPU, overTime                  int64
}

func newParameters(s *site) parameters {
	set := s.Settings
	sched := func(key string, otherwise int64) int64 { return set.parameter("schedulerparameters", key, otherwise) }
	most := func(key string, otherwise int64) int { return int(sched(key, otherwise)) }
	p := parameters{
		builtin: set["schedulertype"] == "sched/builtin", youngest: set.has("schedulerparameters", "preempt_youngest_first"),
		interval: max(1, sched("bf_interval", 30)), window: sched("bf_window", 1440) * 60, resolution: max(1, sched("bf_resolution", 60)),
		maxTest: most("bf_max_job_test", 500), maxUser: most("bf_max_job_user", 0), maxPart: most("bf_max_job_part", 0), maxAssoc: most("bf_max_job_assoc", 0),
		maxUserPart: most("bf_max_job_user_part", 0), maxStart: most("bf_max_job_start", 0), depth: most("default_queue_depth", 100), reorder: most("preempt_reorder_count", 1),
		preempt: strings.TrimPrefix(cmp.Or(set["preempttype"], "preempt/none"), "preempt/"), mode: strings.ToUpper(cmp.Or(set["preemptmode"], "OFF")),
		exempt: max(0, set.seconds("preemptexempttime", 0)), memPerCPU: set.int("defmempercpu", 0), overTime: set.int("overtimelimit", 0) * 60,
	}
	p.requeueAfter = set.parameter("authinfo", "cred_expire", 120) + 1
	if s.Submissions.Requeue > 0 {
		p.requeueAfter = s.Submissions.Requeue + 1
	}
	return p
}

// state is where a job is.
type state uint8

const (
	pending state = iota
	running
	ended
)

// job is a job of the queue.
type job struct {
	subject
	id, user, account string
	number            int // the order of submission
	parts             []*partition
	owners            [][]*holding // those whose limits count, one list for each partition
	lives             int64        // milliseconds that it runs
	req               request
	class             int64 // of equal requests
	direct            int64 // the priority that its user stated

	state       state
	how         string // it ended
	held        bool
	begin       int64 // no start before this second
	deps        []dependency
	throttle    *throttle
	priority    []int64 // one for each partition
	start       int64   // seconds, as eligible
	eligible    int64
	ends, ended int64 // milliseconds: when it ends by itself, and when it ended
	on          []share
	within      set // the nodes of on
	part        *partition
	holds       []*holding
	attempts    []attempt
	charged     int64 // second up to which its usage is booked
}

// share is what a job holds of a node.
type share struct {
	node            int
	cpus, mem, gpus int64
}

// request is what a job asks for.
type request struct {
	minNodes, maxNodes int
	tasks, cpus        int64 // cpus of a task
	perNode, perJob    int64 // GPUs
	memNode            int64 // of each node; 0 is by CPU
	memCPU             int64
	whole              bool
	suited             set // nodes of its features and model
}

// dependency is a condition on another job: after, afterany, afterok or afternotok.
type dependency struct{ kind, on string }

// throttle is the %N of an array.
type throttle struct{ most, running int }

// booking is a reservation of nodes.
type booking struct {
	start, end int64
	nodes      set
	users      []string
}

// newController returns a controller of a site without jobs.
func newController(s *site) *cluster {
	c := &cluster{
		site: s, nodes: s.Nodes, rules: newRules(s), par: newParameters(s), index: map[string]int{}, holdings: map[string]*holding{}, up: newSet(len(s.Nodes)),
		classes: map[string]int64{}, fits: map[string]fit{},
	}
	for i, n := range s.Nodes {
		c.free = append(c.free, allOf(n))
		c.index[n.Name] = i
		c.up.add(i)
	}
	for _, p := range s.Partitions {
		p.set, p.limits = c.setOf(p.Nodes), s.findQOS(p.QOS)
	}
	enforce := s.Settings["accountingstorageenforce"]
	c.enforces = strings.Contains(enforce, "limits") || strings.Contains(enforce, "all") || strings.Contains(enforce, "safe")
	return c
}

func (c *cluster) setOf(names []string) set {
	s := newSet(len(c.nodes))
	for _, name := range names {
		if i, ok := c.index[name]; ok {
			s.add(i)
		}
	}
	return s
}

// record is a job in one of its partitions, as it stands in the queue.
type record struct {
	*job
	part     *partition
	owners   []*holding
	priority int64
}

// order returns the queue in order: a job whose QOS preempts that of another goes before it, then the
// tier of the partition, the priority, the number.
func (c *cluster) order() []record {
	if !c.stale {
		c.sorted = slices.DeleteFunc(c.sorted, func(r record) bool { return r.state != pending })
		return c.sorted
	}
	c.stale, c.sorted = false, c.sorted[:0]
	for _, j := range c.queue {
		for i, p := range j.parts {
			c.sorted = append(c.sorted, record{j, p, j.owners[i], j.priority[i]})
		}
	}
	byQOS := c.par.preempt == "qos"
	slices.SortStableFunc(c.sorted, func(a, b record) int {
		if byQOS && a.QOS != b.QOS {
			if a.QOS.mayPreempt(b.QOS) {
				return -1
			}
			if b.QOS.mayPreempt(a.QOS) {
				return 1
			}
		}
		return cmp.Or(cmp.Compare(b.part.Tier, a.part.Tier), cmp.Compare(b.priority, a.priority), cmp.Compare(a.number, b.number))
	})
	return c.sorted
}

// prioritise computes the priority of a job in each of its partitions.
func (c *cluster) prioritise(j *job, now int64) {
	c.stale = true
	j.priority = j.priority[:0]
	for _, part := range j.parts {
		v := int64(max(0, 1_000_000-j.number))
		switch {
		case j.direct > 0:
			v = j.direct
		case !c.rules.simple:
			v = c.rules.priority(&j.subject, part, now)
		}
		j.priority = append(j.priority, v)
	}
}

// compress writes names of nodes as Slurm does: n[1,3-4].
func (c *cluster) compress(nodes []int) string {
	type list struct {
		prefix string
		spans  [][2]string
	}
	var lists []*list
	for _, i := range nodes {
		name := c.nodes[i].Name
		prefix := strings.TrimRight(name, "0123456789")
		number := name[len(prefix):]
		if len(lists) == 0 || lists[len(lists)-1].prefix != prefix || number == "" {
			lists = append(lists, &list{prefix: prefix})
		}
		l := lists[len(lists)-1]
		if n := len(l.spans); n > 0 && follows(l.spans[n-1][1], number) {
			l.spans[n-1][1] = number
		} else {
			l.spans = append(l.spans, [2]string{number, number})
		}
	}
	var out []string
	for _, l := range lists {
		var texts []string
		for _, s := range l.spans {
			if s[0] != s[1] {
				s[0] += "-" + s[1]
			}
			texts = append(texts, s[0])
		}
		text := strings.Join(texts, ",")
		if strings.ContainsAny(text, ",-") {
			text = "[" + text + "]"
		}
		out = append(out, l.prefix+text)
	}
	return strings.Join(out, ",")
}

// follows reports whether the number b is that after a.
func follows(a, b string) bool {
	x, _ := strconv.Atoi(a)
	y, _ := strconv.Atoi(b)
	return y == x+1 && len(b) >= len(a)
}
