package scenarios

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/service"
	"capcli/scenarios/strict"
	"capcli/simulate"
	"capcli/simulate/scale"
	"capcli/simulate/serving/roofline"
)

// maxServices is the most services of a scenario.
const maxServices = 1000

// services reads the services beside the jobs.
func services(s *Scenario) strict.Reader {
	lines := map[string]int{}
	section := service.Section
	check := section.Check
	section.Check = func(o *strict.Object, v *service.Spec) {
		check(o, v)
		if o.RequireWith("name", "a service needs a name"); !o.Has("name") {
			return
		}
		if line, twice := lines[v.Name]; twice {
			o.Fault("name", "service %s is there twice, first in line %d", capcli.Quoted(v.Name), line)
		}
		lines[v.Name] = o.Node.Line
		if o.Has("losses") {
			o.FaultName("losses", "losses are for a service alone; in a scenario replicas are lost with the nodes of their pools: failures, hazard or availability")
		}
		s.serviceObjects = append(s.serviceObjects, o)
	}
	return section.List(&s.Services, maxServices, "services")
}

// checkServices checks the services against pools and period.
func (s *Scenario) checkServices(top *strict.Object) {
	if len(s.Services) > 0 && s.Kueue != nil {
		top.FaultName("services", "kueue and services cannot be in one scenario")
		return
	}
	if len(s.serviceObjects) != len(s.Services) || !top.IsClean("capacity") {
		return
	}
	for i := range s.Services {
		s.checkService(s.serviceObjects[i], &s.Services[i])
	}
	s.serviceObjects = nil
}

// checkService checks one service against the pools.
func (s *Scenario) checkService(o *strict.Object, v *service.Spec) {
	for k, name := range v.Pools {
		c := s.pool(name)
		switch why := ""; {
		case c == nil:
			o.Fault("pools", "no pool is called %s%s", capcli.Quoted(name), capcli.DidYouMean(name, s.poolNames()))
		case slices.Contains(v.Pools[:k], name):
			o.Fault("pools", "pool %s is there twice", capcli.Quoted(name))
		default:
			if why = s.whyNotIn(v, c); why != "" {
				o.Fault("pools", "pool %s cannot hold a replica of %s: %s", name, v.Name, why)
			}
		}
	}
	if v.Pools == nil && len(s.poolsFor(v)) == 0 {
		why := ""
		for i := range s.Capacity {
			why += fmt.Sprintf("; %s: %s", s.Capacity[i].Name, s.whyNotIn(v, &s.Capacity[i]))
		}
		o.Fault("name", "no pool can hold a replica of %s%s", v.Name, why)
	}
}

// pool returns a pool by name; nil if there is none.
func (s *Scenario) pool(name string) *Capacity {
	if i := slices.IndexFunc(s.Capacity, func(c Capacity) bool { return c.Name == name }); i >= 0 {
		return &s.Capacity[i]
	}
	return nil
}

func (s *Scenario) poolNames() (out []string) {
	for i := range s.Capacity {
		out = append(out, s.Capacity[i].Name)
	}
	return out
}

// whyNotIn returns why a pool cannot hold a replica; "" if it can.
func (s *Scenario) whyNotIn(v *service.Spec, c *Capacity) string {
	if c.Partition != "" && c.Partition != v.Partition {
		return fmt.Sprintf("it is of partition %s", capcli.Quoted(c.Partition))
	}
	if want := v.Model.Request.GPU.Name; want != "" && c.GPUModel != "" && !sameGPU(want, c.GPUModel) {
		return fmt.Sprintf("its GPUs are %s, the service's time is that of %s", c.GPUModel, want)
	}
	size := c.GPUs
	if c.Nodes > 0 {
		size = c.Nodes * c.GPUsPerNode
	}
	if gpus := replicaGPUs(v); size > 0 && gpus > size {
		return fmt.Sprintf("it has %d GPUs, a replica wants %d", size, gpus)
	}
	return ""
}

// sameGPU reports whether two names are of the same kind of GPU.
func sameGPU(a, b string) bool {
	if strings.EqualFold(a, b) {
		return true
	}
	x, errA := roofline.FindGPU(a)
	y, errB := roofline.FindGPU(b)
	return errA == nil && errB == nil && x.Name == y.Name
}

// poolsFor returns the names of the pools that may hold replicas, in order of preference.
func (s *Scenario) poolsFor(v *service.Spec) []string {
	if v.Pools != nil {
		return v.Pools
	}
	var fit []*Capacity
	for i := range s.Capacity {
		if s.whyNotIn(v, &s.Capacity[i]) == "" {
			fit = append(fit, &s.Capacity[i])
		}
	}
	rank := func(c *Capacity) int {
		if c.Kind.Committed() {
			return -1
		}
		return s.rank(c)
	}
	slices.SortStableFunc(fit, func(a, b *Capacity) int { return cmp.Compare(rank(a), rank(b)) })
	out := make([]string, len(fit))
	for i, c := range fit {
		out[i] = c.Name
	}
	return out
}

// replicaGPUs returns the GPUs of a replica.
func replicaGPUs(v *service.Spec) int { return int(max(1, v.Config.GPUs)) }

// serviceTag is the tag that the use of a service has, so that bills show it apart.
const serviceTag = "service"

// servicesOf returns the services of a run, with their loads.
func (s *Scenario) servicesOf(files *files, o Options) ([]simulate.Service, error) {
	out := make([]simulate.Service, len(s.Services))
	for i := range s.Services {
		v := &s.Services[i]
		load, err := s.ServiceLoad(v, o)
		if err != nil {
			return nil, err
		}
		scaler, err := s.scalerOf(v, o)
		if err != nil {
			return nil, err
		}
		out[i] = simulate.Service{
			Name: v.Name, Tenant: cmp.Or(v.Tenant, v.Name), Partition: v.Partition, GPUs: replicaGPUs(v), GPUMilli: v.GPUMilli,
			CPUMilli: int64(math.Ceil(v.CPUs * 1000)), MemMiB: int64(math.Ceil(v.MemGB * 1024)),
			Tags:  v.Tags.Merge(capcli.NewTags(capcli.Tag{Name: serviceTag, Value: v.Name})),
			Class: serviceTag, Pools: s.enginePools(files, s.poolsFor(v)), Length: v.StepLength(), Load: load.Counts, PerReplica: load.PerReplica,
			Late: v.LateSteps, Initial: initialOf(v), Cold: coldOf(v), Drain: v.DrainTime, Scaler: scaler, Displaces: v.Displaces, Spares: v.Spares,
		}
	}
	return out, nil
}

// enginePools returns the names that pools have in a run: a pool with a file of nodes is several.
func (s *Scenario) enginePools(files *files, names []string) (out []string) {
	for _, name := range names {
		for c, g := range s.groups(files) {
			if c.Name == name {
				out = append(out, g.name)
			}
		}
	}
	return out
}

// initialOf returns the replicas at the start.
func initialOf(v *service.Spec) int {
	if v.Initial < 0 && len(v.Config.Replicas) > 0 {
		return len(v.Config.Replicas)
	}
	return v.InitialReplicas()
}

// coldOf returns how long a replica loads.
func coldOf(v *service.Spec) capcli.Seconds {
	if v.ColdStart < 0 && v.ColdSteps < 0 && v.Config.Cold > 0 {
		return capcli.Seconds((v.Config.Cold + 999_999) / 1_000_000)
	}
	return max(v.ColdStart, capcli.Seconds(max(0, v.ColdSteps))*v.StepLength())
}

// scalerOf returns the scaler of a service; nil keeps its replicas.
func (s *Scenario) scalerOf(v *service.Spec, o Options) (simulate.NewScaler, error) {
	if v.Scaler == nil {
		return nil, nil
	}
	settings := *v.Scaler
	settings.Start = s.Period.Start
	if settings.Model != "" {
		var seasons []int
		for _, season := range []capcli.Seconds{capcli.Day, 7 * capcli.Day} {
			if n := int(season / v.StepLength()); n > 1 {
				seasons = append(seasons, n)
			}
		}
		f, err := NewForecaster(settings.Model, seasons, o.seed())
		if err != nil {
			return nil, err
		}
		settings.Forecaster = f
	}
	return scale.NewScaler(&settings)
}

// ServiceLoad is what comes to a service in a run.
type ServiceLoad struct {
	Counts     []int64 // requests of each step
	PerReplica int64   // requests that a ready replica serves in a step
	Why        string  // where PerReplica comes from, if it is not stated
}

// ServiceLoad returns what comes to a service in a run.
func (s *Scenario) ServiceLoad(v *service.Spec, o Options) (*ServiceLoad, error) {
	if len(v.Arrivals) == 0 {
		return nil, &capcli.InputError{File: s.File, Field: "services." + v.Name + ".load", Text: "no requests: give load, the requests of each step"}
	}
	if v.PerStep == 0 {
		return nil, &capcli.InputError{File: s.File, Field: "services." + v.Name + ".mu", Text: "mu is missing: the requests that a ready replica serves in a step"}
	}
	counts := v.Arrivals
	if n := s.stepsOf(v); n > 0 && n < len(counts) {
		counts = counts[:n]
	}
	return &ServiceLoad{Counts: counts, PerReplica: v.PerStep}, nil
}

// stepsOf returns the steps of a service in the period; 0 without a period.
func (s *Scenario) stepsOf(v *service.Spec) int {
	return int((s.Period.Length() + v.StepLength() - 1) / v.StepLength())
}
