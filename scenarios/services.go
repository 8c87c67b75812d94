package scenarios

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/scenarios/generate"
	"capcli/scenarios/strict"
	"capcli/simulate"
	"capcli/simulate/serving/roofline"
	"capcli/simulate/serving/scale"
	"capcli/simulate/serving/service"
	"capcli/simulate/serving/traffic"
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
		for _, alone := range [][2]string{
			{"losses", "replicas are lost with the nodes of their pools: failures, hazard or availability"},
			{"price", "what replicas hold costs what their pools cost"},
		} {
			if o.Has(alone[0]) {
				o.FaultName(alone[0], "%s is for a service alone; in a scenario %s", alone[0], alone[1])
			}
		}
		if n := o.Value("replicas"); n != nil && n.Kind == yaml.SequenceNode {
			o.Fault("replicas", "a list of replicas is for a service alone; in a scenario the scaler decides, from initial: on")
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
	if v.Prefill != nil {
		o.FaultName("prefill", "prefill is played by capcli service replay alone; in a scenario every replica computes prompts and answers")
	}
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
	if c.Floats {
		return "it lowers the bill of on-demand use and is no place; name the on_demand pool, or write fenced: true"
	}
	if c.Partition != "" && c.Partition != v.Partition {
		return fmt.Sprintf("it is of partition %s", capcli.Quoted(c.Partition))
	}
	if want := v.Request.GPU.Name; want != "" && c.GPUModel != "" && !sameGPU(want, c.GPUModel) {
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
	return capcli.Map(fit, func(c *Capacity) string { return c.Name })
}

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
			Late: v.LateSteps, Initial: initialOf(v), Cold: coldOf(v), Drain: v.DrainTime, Scaler: scaler, Most: mostOf(v), Displaces: v.Displaces, Spares: v.Spares,
		}
	}
	fleets, err := s.fleets(files)
	return append(out, fleets...), err
}

// fleets returns the services of the generator, whose replicas follow the day and have no requests. They go
// to elastic pools only if jobs like them ever may.
func (s *Scenario) fleets(files *files) ([]simulate.Service, error) {
	w := s.Jobs.Generate
	if w == nil {
		return nil, nil
	}
	list, err := w.Fleets()
	if err != nil {
		return nil, err
	}
	shift := capcli.Seconds(0)
	if s.Period.IsKnown() {
		shift = capcli.Seconds(w.Start - s.Period.Start)
	}
	overflow := simulate.Overflow{Patience: s.Overflow.Patience}
	var out []simulate.Service
	for i := range list {
		f := &list[i]
		r := &f.Replica
		var pools []string
		for _, name := range s.poolsFor(&service.Spec{Holding: service.Holding{Partition: r.Partition}}) {
			if c := s.pool(name); c.Kind.Committed() || overflow.PatienceOf(r, w.Span) >= 0 {
				pools = append(pools, name)
			}
		}
		if pools = s.enginePools(files, pools); len(pools) == 0 {
			return nil, &capcli.InputError{
				File: s.File, Field: "jobs.generate.classes." + f.Name, Text: "no pool that these replicas may use has room for one",
				Hint: "its partition and GPU model must be those of a pool; with overflow: {patience: never} it has committed pools alone",
			}
		}
		out = append(out, simulate.Service{
			Name: f.Name, Tenant: r.Tenant, GPUModel: s.wantedModel(r.GPUModel), Partition: r.Partition, GPUs: r.GPUs, CPUMilli: r.CPUMilli, MemMiB: r.MemMiB,
			Tags:  r.Tags.Merge(capcli.NewTags(capcli.Tag{Name: serviceTag, Value: f.Name})),
			Class: r.Class, Pools: pools, Length: f.Step,
			Load: make([]int64, (w.Span+shift+f.Step-1)/f.Step), Initial: f.Wanted(-shift),
			Scaler: func() simulate.Scaler { return fleetScaler{f, shift} },
		})
	}
	return out, nil
}

// wantedModel returns the GPU model that work wants.
func (s *Scenario) wantedModel(model string) string {
	if s.Jobs.AnyModel {
		return ""
	}
	return model
}

// fleetScaler wants the replicas of a fleet.
type fleetScaler struct {
	fleet *generate.Fleet
	shift capcli.Seconds // from the start of the run to that of the workload
}

// Desired implements simulate.Scaler.
func (f fleetScaler) Desired(s *simulate.ScaleState) int { return f.fleet.Wanted(s.Now - f.shift) }

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

// mostOf returns the most replicas that are ever wanted at once.
func mostOf(v *service.Spec) int {
	if v.Scaler == nil {
		return initialOf(v)
	}
	return max(initialOf(v), v.Scaler.Max)
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
		f, err := NewForecaster(settings.Model, settings.Seasons(), o.seed())
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
	Notes      []string
}

// loadKey is a service in a replication.
type loadKey struct {
	service string
	seed    capcli.Seed
}

// mostLoads is the most loads that a scenario keeps for further runs with the same seed.
const mostLoads = 64

// ServiceLoad returns what comes to a service in a run. It reads the service's files.
func (s *Scenario) ServiceLoad(v *service.Spec, o Options) (*ServiceLoad, error) {
	key := loadKey{v.Name, o.seed()}
	s.opened.lock.Lock()
	known := s.opened.loads[key]
	s.opened.lock.Unlock()
	if known != nil {
		return known, nil
	}
	load, err := s.makeLoad(v, o)
	if err != nil {
		return nil, s.inService(v, err)
	}
	s.opened.lock.Lock()
	defer s.opened.lock.Unlock()
	if s.opened.loads == nil || len(s.opened.loads) >= mostLoads {
		s.opened.loads = map[loadKey]*ServiceLoad{}
	}
	s.opened.loads[key] = load
	return load, nil
}

func (s *Scenario) makeLoad(v *service.Spec, o Options) (*ServiceLoad, error) {
	out := &ServiceLoad{Counts: v.Arrivals}
	steps := int((s.Period.Length() + v.StepLength() - 1) / v.StepLength())
	src, err := s.Traffic(v, o, func(text string) { out.Notes = append(out.Notes, text) })
	if err != nil {
		return nil, err
	}
	var why string
	if out.PerReplica, why, err = v.PerReplica(src); err != nil {
		return nil, err
	}
	if why != "" {
		out.Notes = append(out.Notes, why)
	}
	if v.Estimate != nil && v.Estimate.Origin.Source != "" {
		out.Notes = append(out.Notes, v.Name+": "+v.Estimate.Origin.Remark())
	}
	switch {
	case src == nil && len(v.Arrivals) == 0:
		return nil, &capcli.InputError{Field: "requests", Text: "no requests: give requests, a trace or a curve, or load, the requests of each step"}
	case src == nil:
		if steps > 0 {
			out.Counts = out.Counts[:min(steps, len(out.Counts))]
		}
		return out, nil
	case steps == 0:
		if steps = int((src.Length() + v.StepLength() - 1) / v.StepLength()); steps == 0 {
			return nil, &capcli.InputError{Field: "requests", Text: "the requests have no end, and the scenario no period", Hint: "period: 2027-01-01 to 2027-01-07"}
		}
	}
	out.Counts, err = src.Counts(v.StepLength(), steps)
	return out, err
}

// inService names the service in an error of its input.
func (s *Scenario) inService(v *service.Spec, err error) error {
	var request *capcli.RequestError
	if errors.As(err, &request) {
		err = &capcli.InputError{Field: request.Field, Text: strings.TrimPrefix(request.Text, ": "), Hint: request.Hint}
	}
	var input *capcli.InputError
	if !errors.As(err, &input) || input.File != "" {
		return err
	}
	named := *input
	named.File, named.Field = s.File, strings.TrimSuffix("services."+v.Name+"."+input.Field, ".")
	return &named
}

// Traffic returns the requests of a service in a run, as its requests: says; nil if it states only how many
// come. note gets what the user must know.
func (s *Scenario) Traffic(v *service.Spec, o Options, note func(string)) (traffic.Source, error) {
	if !v.HasRequests() {
		return nil, nil //nolint:nilnil // without requests: there are none
	}
	if len(v.Arrivals) > 0 {
		return nil, &capcli.InputError{Field: "load", Text: "load and requests both say how many requests come; leave one out"}
	}
	open := func(name string) (trace.Input, io.Closer, error) {
		if o.Open == nil {
			return trace.Input{}, nil, fmt.Errorf("open %s: this run has no access to files", name)
		}
		b, err := o.Open(name)
		return trace.Input{Name: name, R: bytes.NewReader(b), At: bytes.NewReader(b), Size: int64(len(b))}, io.NopCloser(nil), err
	}
	return v.Traffic(context.Background(), service.Opening{Open: open, Start: s.Period.Start, Seed: o.seed(), Note: note})
}
