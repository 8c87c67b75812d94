package slurm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// submit returns the jobs of one sbatch: one, or those of its array.
func (c *cluster) submit(s *submitted, number int, second int64) ([]*job, error) {
	j := &job{id: s.ID, user: s.User, account: s.Account, number: number * maxArray, begin: second, lives: s.Run * 1000, direct: s.int("priority", 0)}
	j.subject = subject{Submit: second, Nice: s.int("nice", 0), Assoc: c.site.findUser(s.Account, s.User)}
	if err := c.request(j, s); err != nil {
		return nil, err
	}
	_, j.held = s.option("hold")
	if v, ok := s.option("begin"); ok {
		n, err := strconv.ParseInt(strings.TrimPrefix(v, "now+"), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("job %s: --begin: expected now+SECONDS, found %q", s.ID, v)
		}
		j.begin = second + n
	}
	if v, ok := s.option("dependency"); ok {
		for part := range strings.SplitSeq(v, ",") {
			w := strings.Split(part, ":")
			for _, on := range w[1:] {
				on, _, _ = strings.Cut(on, "+")
				j.deps = append(j.deps, dependency{w[0], on})
			}
		}
	}
	if v, ok := s.option("array"); ok {
		return array(j, v)
	}
	return []*job{j}, nil
}

// maxArray is the most tasks of an array.
const maxArray = 1 << 20

// array returns the tasks of an array: 1-3%1, 1,5-9:2.
func array(j *job, text string) (out []*job, err error) {
	list, most, limited := strings.Cut(text, "%")
	t := &throttle{most: maxArray}
	if limited {
		t.most, err = strconv.Atoi(most)
	}
	for part := range strings.SplitSeq(list, ",") {
		span, step, _ := strings.Cut(part, ":")
		low, high, ok := strings.Cut(span, "-")
		if !ok {
			high = low
		}
		from, err1 := strconv.Atoi(low)
		to, err2 := strconv.Atoi(high)
		by, err3 := strconv.Atoi("0" + step)
		if err != nil || err1 != nil || err2 != nil || err3 != nil || to-from >= maxArray || len(out) >= maxArray {
			return nil, fmt.Errorf("job %s: --array: expected a list like 1-9:2,12 or 1-9%%2, found %q", j.id, text)
		}
		for k := from; k <= to; k += max(1, by) {
			one := *j
			one.id, one.throttle, one.number, one.deps = fmt.Sprintf("%s_%d", j.id, k), t, j.number+len(out), slices.Clone(j.deps)
			out = append(out, &one)
		}
	}
	return out, nil
}

// request reads what a job asks for.
func (c *cluster) request(j *job, s *submitted) error {
	names, ok := s.option("partition")
	if !ok {
		for _, p := range c.site.Partitions {
			if p.First || names == "" {
				names = p.Name
			}
		}
	}
	name, ok := s.option("qos")
	if !ok {
		name = j.Assoc.defaultQOS()
	}
	j.QOS = c.site.findQOS(name)
	for _, p := range c.site.byTier(strings.Split(names, ",")) {
		j.parts = append(j.parts, p)
		j.owners = append(j.owners, c.owners(j, p))
	}
	if len(j.parts) == 0 {
		return fmt.Errorf("job %s: --partition: expected a partition of slurm.conf, found %q", s.ID, names)
	}
	limit, _ := s.option("time")
	j.Limit, _ = parseLimit(limit)
	for _, otherwise := range []int64{j.parts[0].Default, j.parts[0].MaxTime, 365 * 86400} {
		if j.Limit == 0 {
			j.Limit = otherwise
		}
	}
	c.demand(j, s)
	return nil
}

// demand reads the resources that a job asks for.
func (c *cluster) demand(j *job, s *submitted) {
	q := &j.req
	q.tasks, q.cpus = max(1, s.int("ntasks", 0)), max(1, s.int("cpus-per-task", 1))
	q.minNodes = int(max(1, s.int("nodes", 1)))
	q.tasks = max(q.tasks, int64(q.minNodes))
	q.maxNodes = int(q.tasks)
	if v, ok := s.option("nodes"); ok {
		_, high, ranged := strings.Cut(v, "-")
		if q.maxNodes = q.minNodes; ranged {
			q.maxNodes, _ = strconv.Atoi(high)
		}
	}
	if per := s.int("ntasks-per-node", 0); per > 0 {
		q.minNodes = max(q.minNodes, int((q.tasks+per-1)/per))
		q.maxNodes = max(q.minNodes, q.maxNodes)
	}
	v, _ := s.option("gres")
	n, model := parseGres(strings.TrimPrefix(v, "gres:"))
	q.perNode = n
	if v, ok := s.option("gpus"); ok {
		q.perJob, model = parseGres("gpu:" + strings.TrimPrefix(v, "gpu:"))
	}
	_, q.whole = s.option("exclusive")
	q.memCPU = s.int("mem-per-cpu", c.par.memPerCPU)
	if q.memNode = s.int("mem", 0); q.memNode > 0 {
		q.memCPU = 0
	}
	features, _ := s.option("constraint")
	q.suited = newSet(len(c.nodes))
	for i, d := range c.nodes {
		lacks := func(f string) bool { return f != "" && !slices.Contains(d.Features, f) }
		if (model == "" || d.GPUModel == model) && !slices.ContainsFunc(strings.Split(features, "&"), lacks) {
			q.suited.add(i)
		}
	}
	class := fmt.Sprint(*q)
	if c.classes[class] == 0 {
		c.classes[class] = int64(len(c.classes) + 1)
	}
	j.class = c.classes[class]
	j.Nodes, j.TRES = int64(q.minNodes), tres{"cpu": q.tasks * q.cpus, "node": int64(q.minNodes), "mem": max(q.memNode*int64(q.minNodes), q.memCPU*q.tasks*q.cpus)}
	if n := q.perNode*int64(q.minNodes) + q.perJob; n > 0 {
		j.TRES["gres/gpu"] = n
		if model != "" {
			j.TRES["gres/gpu:"+model] = n
		}
	}
	j.TRES["billing"] = int64(c.site.billing(j.parts[0], j.TRES))
}

// defaultQOS returns the QOS of jobs that name none.
func (a *assoc) defaultQOS() string {
	for ; a != nil; a = a.Parent {
		if a.QOS != "" {
			return a.QOS
		}
	}
	return "normal"
}
