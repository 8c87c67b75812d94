package joblog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/profile/accelerator"
)

// Bounds on amounts. A larger one is a mistake of the file.
const (
	mostPods    = 1_000_000
	mostAmount  = 10_000_000 // of one resource of one pod set
	mostSeconds = 10_000_000_000
)

// gpuResources are the names under which device plugins offer whole GPUs. NVIDIA's plugin offers GPUs that
// pods share by time under its own name, each share as one.
var gpuResources = []string{"nvidia.com/gpu", "nvidia.com/gpu.shared", "amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe", "habana.ai/gaudi"}

// migPrefix begins the resources that are slices of GPUs, under MIG's mixed strategy.
const migPrefix = "nvidia.com/mig-"

// isGPU reports whether a resource is a GPU or a slice of one.
func isGPU(name string) bool {
	return strings.HasPrefix(name, migPrefix) || slices.Contains(gpuResources, name)
}

// check returns an error for the first resource, by name, whose amount is no quantity or is negative.
func (r resources) check() error {
	var names []string
	for name := range r {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		q, err := capcli.ParseQuantity(string(r[name]))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if q.Value() < 0 || isGPU(name) && q.Value() > mostAmount {
			return fmt.Errorf("%s: want 0 to %d, found %s", name, mostAmount, r[name])
		}
	}
	return nil
}

func (p *podSpec) check() error {
	for _, list := range []struct {
		name string
		of   []container
	}{{"containers", p.Containers}, {"initContainers", p.InitContainers}} {
		for i := range list.of {
			c := &list.of[i].Resources
			if err := c.Requests.check(); err != nil {
				return fmt.Errorf("spec.%s[%d].resources.requests.%w", list.name, i, err)
			}
			if err := c.Limits.check(); err != nil {
				return fmt.Errorf("spec.%s[%d].resources.limits.%w", list.name, i, err)
			}
		}
	}
	if err := p.Overhead.check(); err != nil {
		return fmt.Errorf("spec.overhead.%w", err)
	}
	if err := p.Resources.Requests.check(); err != nil {
		return fmt.Errorf("spec.resources.requests.%w", err)
	}
	return nil
}

// amounts are what pods hold: thousandths, by the name of the resource.
type amounts map[string]int64

// add adds n times what, each at most what int64 holds.
func (a amounts) add(what amounts, n int64) {
	for name, v := range what {
		a[name] = saturated(a[name], v, n)
	}
}

// saturated returns base + v x n, or a bound far above any real amount.
func saturated(base, v, n int64) int64 {
	const bound = 1 << 61
	if n > 0 && v > bound/n || base > bound-v*n {
		return bound
	}
	return base + v*n
}

// parse returns the amounts of r, which check has passed.
func (r resources) parse() amounts {
	out := amounts{}
	for name, text := range r {
		q, err := capcli.ParseQuantity(string(text))
		if err != nil {
			continue
		}
		out[name] = q.Milli()
	}
	return out
}

// asks returns what a container asks for: its requests, and its limits where it has no request.
func (c *container) asks() amounts {
	out := c.Resources.Limits.parse()
	for name, v := range c.Resources.Requests.parse() {
		out[name] = v
	}
	return out
}

// asks returns what the scheduler counts for one pod: the sum of its containers and sidecars, or the most
// that an init container needs beside the sidecars started before it, and the overhead (Kubernetes, "Init
// containers", "Sidecar containers"). Requests of the pod as a whole go before those of its containers.
func (p *podSpec) asks() amounts {
	sum, sidecars, most := amounts{}, amounts{}, amounts{}
	for i := range p.Containers {
		sum.add(p.Containers[i].asks(), 1)
	}
	for i := range p.InitContainers {
		c := &p.InitContainers[i]
		need := c.asks()
		need.add(sidecars, 1)
		if c.RestartPolicy == "Always" {
			sidecars.add(c.asks(), 1)
			need = sidecars
		}
		for name, v := range need {
			most[name] = max(most[name], v)
		}
	}
	sum.add(sidecars, 1)
	for name, v := range most {
		sum[name] = max(sum[name], v)
	}
	for name, v := range p.Resources.Requests.parse() {
		sum[name] = v
	}
	sum.add(p.Overhead.parse(), 1)
	return sum
}

// gpus returns the whole GPUs in a, rounded up.
func (a amounts) gpus() int64 {
	var n int64
	for _, name := range gpuResources {
		n += (a[name] + 999) / 1000
	}
	return n
}

// slices returns the number of slices in a by MIG profile, such as 1g.10gb.
func (a amounts) slices() map[string]int64 {
	var out map[string]int64
	for name, v := range a {
		if profile, ok := strings.CutPrefix(name, migPrefix); ok && v > 0 {
			if out == nil {
				out = map[string]int64{}
			}
			out[profile] += (v + 999) / 1000
		}
	}
	return out
}

// migText returns slices as 1g.10gb:4;3g.40gb:1, in order of profile.
func migText(mig map[string]int64) string {
	var parts []string
	for profile, n := range mig {
		parts = append(parts, profile+":"+strconv.FormatInt(n, 10))
	}
	slices.Sort(parts)
	return strings.Join(parts, ";")
}

// migMilli returns the thousandths of GPUs that slices are, rounded down, so that as many fit on a GPU as
// MIG makes of it. A slice is its part of the compute or of the memory, whichever is more, of the usual
// geometry. What is no MIG profile is a whole GPU.
func migMilli(mig map[string]int64) int64 {
	parts := int64(0)
	for profile, n := range mig {
		s, ok := accelerator.SliceOf("", profile)
		if !ok {
			s.Compute = accelerator.WholeGPU
		}
		parts += n * s.Share()
	}
	return 1000 * parts / accelerator.WholeGPU
}
