package profile

import (
	"math/bits"
	"slices"

	"capcli/profile/accelerator"
)

// wholeGPU is a whole GPU in the parts in which shares of GPUs are counted.
const wholeGPU = accelerator.WholeGPU

// Share returns the part of a GPU that the device is, in parts of accelerator.WholeGPU: all of it, or
// of a MIG instance its compute or its memory, whichever is more. An instance of an unknown profile
// counts as the smallest there is.
func (d *Device) Share() int64 {
	if !d.MIG() {
		return wholeGPU
	}
	if s, ok := accelerator.SliceOf(d.Model, d.Profile); ok {
		return s.Share()
	}
	return wholeGPU / 7
}

// division is how MIG divides the GPUs of one tick. An instance and its GPU are never both counted: of
// a divided GPU only the rest counts that no instance has, and it is free.
type division struct {
	gpus   []dividedGPU
	shares map[*Device]int64  // of instances
	wholes map[string]*Device // GPUs that have no samples of their own
}

// dividedGPU is a GPU with instances.
type dividedGPU struct {
	uuid  string
	left  int64 // parts that no instance has
	own   bool  // the GPU itself has a sample
	whole Sample
}

// look finds the divided GPUs of a tick.
func (v *division) look(t *Tick) {
	v.gpus = v.gpus[:0]
	for i := range t.Samples {
		s := &t.Samples[i]
		if s.Device.MIG() && s.Device.Parent != "" {
			v.add(s)
		}
	}
	if len(v.gpus) == 0 {
		return
	}
	for i := range t.Samples {
		if g := v.gpu(t.Samples[i].Device.UUID); g != nil {
			g.own = true
		}
	}
}

// add takes the sample of an instance. Sources that sample no divided GPU give its power with each of
// its instances; it counts once.
func (v *division) add(s *Sample) {
	d := s.Device
	g := v.gpu(d.Parent)
	if g == nil {
		v.gpus = append(v.gpus, dividedGPU{uuid: d.Parent, left: wholeGPU})
		g = &v.gpus[len(v.gpus)-1]
		g.whole.Clear(NotAsked)
	}
	g.left = max(0, g.left-v.share(d))
	for _, m := range [...]Metric{Power, Energy} {
		if x, ok := s.Get(m); ok && x >= g.whole.Values[m] {
			g.whole.Set(m, x)
		}
	}
}

func (v *division) gpu(uuid string) *dividedGPU {
	for i := range v.gpus {
		if v.gpus[i].uuid == uuid {
			return &v.gpus[i]
		}
	}
	return nil
}

// share returns the share of a device that is not divided.
func (v *division) share(d *Device) int64 {
	if !d.MIG() {
		return wholeGPU
	}
	share, ok := v.shares[d]
	if !ok {
		if v.shares == nil || len(v.shares) > 4096 {
			v.shares = map[*Device]int64{}
		}
		share = d.Share()
		v.shares[d] = share
	}
	return share
}

// shareOf returns what a device of the tick counts as, and whether it is the rest of a divided GPU.
func (v *division) shareOf(d *Device) (parts int64, divided bool) {
	if len(v.gpus) > 0 && !d.MIG() {
		if g := v.gpu(d.UUID); g != nil {
			return g.left, true
		}
	}
	return v.share(d), false
}

// rests calls put for each divided GPU without a sample of its own, with one that has its power.
func (v *division) rests(t *Tick, put func(s *Sample) error) error {
	for i := range v.gpus {
		g := &v.gpus[i]
		if g.own {
			continue
		}
		k := slices.IndexFunc(t.Samples, func(s Sample) bool { return s.Device.Parent == g.uuid })
		part, d := t.Samples[k].Device, v.wholes[g.uuid]
		if d == nil || d.Index != part.Index || d.Model != part.Model || d.Bus != part.Bus || d.Driver != part.Driver {
			d = &Device{Index: part.Index, UUID: g.uuid, Model: part.Model, Bus: part.Bus, Driver: part.Driver, GI: -1, CI: -1}
		}
		if v.wholes == nil {
			v.wholes = map[string]*Device{}
		}
		v.wholes[g.uuid] = d
		g.whole.Device = d
		if err := put(&g.whole); err != nil {
			return err
		}
	}
	return nil
}

// shareUses are Uses by the share of a GPU that their devices are, so that they sum exactly.
type shareUses []shareUse

type shareUse struct {
	parts int64
	use   *Use
}

// useOf returns the Use of devices with a share, which begins as nothing.
func (s *shareUses) useOf(parts int64) *Use {
	for _, x := range *s {
		if x.parts == parts {
			return x.use
		}
	}
	u := NewUse()
	*s = append(*s, shareUse{parts, u})
	return u
}

func (s *shareUses) merge(o shareUses) {
	for _, x := range o {
		s.useOf(x.parts).Merge(x.use)
	}
}

// total sums up to one Use in GPU-time: a second of an instance is its share of a second. Times are
// rounded to the microsecond once, here.
func (s shareUses) total() *Use {
	if len(s) == 1 && s[0].parts == wholeGPU {
		return s[0].use
	}
	out := NewUse()
	unit := int64(0)
	for _, x := range s {
		unit = gcd(unit, x.parts)
	}
	var times [numGPUTimes]Sum
	for _, x := range s {
		for i, t := range x.use.gpuTimes() {
			times[i].AddProduct(uint64(*t), uint64(x.parts))
		}
		out.weigh(x.use, x.parts/max(1, unit))
		out.Signs.Merge(x.use.Signs.Times(x.parts, wholeGPU))
	}
	for i, t := range out.gpuTimes() {
		*t = times[i].parts()
	}
	out.Parts = max(1, unit)
	return out
}

// parts returns the sum over wholeGPU, rounded.
func (s Sum) parts() int64 {
	s.Add(wholeGPU / 2)
	q, _ := bits.Div64(s.Hi, s.Lo, wholeGPU)
	return int64(q)
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
