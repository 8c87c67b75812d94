package judge

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// verdictOf returns the verdict on minutes of a signature.
func verdictOf(g *signature, seed uint64, minutes, step int, hide view) Verdict {
	tally, _, _, job := g.play(seed, minutes, step, hide)
	return Overall(Resolve(tally, &job), math.NaN())
}

func sameIdle(k Kind) Kind {
	if k == NeverBusy || k == MostlyIdle {
		return Idle
	}
	return k
}

// Samples further apart change no verdict into another: at five seconds it is the same, at a minute it
// is the same or "cannot tell".
func TestIntervals(t *testing.T) {
	for i := range signatures {
		g := &signatures[i]
		for n := range 6 {
			seed := uint64(77*i + n)
			shape := g.want == Starved || g.name == "a slow stream of requests"
			five := sameIdle(verdictOf(g, seed, 30, 5, fullView).Kind)
			if five != g.want && (!shape || five != Starved && five != Light && five != Unknown) {
				t.Errorf("%s at 5 s: %s", g.name, five)
			}
			minute := verdictOf(g, seed, 30, 60, fullView)
			if k := sameIdle(minute.Kind); k != g.want && k != Unknown {
				t.Errorf("%s at 60 s: %s (%s)", g.name, k, minute.Words)
			} else if minute.Confidence == High && k != Unknown {
				t.Errorf("%s at 60 s: %s with high confidence", g.name, k)
			}
		}
	}
}

// What a source does not report makes "cannot tell", or the same with less confidence; it never makes
// another limit.
func TestViews(t *testing.T) {
	allowed := map[string]map[Kind][]Kind{
		plainView.name: {
			ComputeBound: {Working, Unknown}, MemoryBound: {Working, Unknown}, Working: {Unknown}, CommInNode: {Unknown}, CommBetween: {Unknown},
			HostTransfer: {Unknown}, SmallKernels: {Unknown}, ThermalCap: {}, PowerCap: {}, Stuck: {Unknown}, Starved: {Light}, Light: {Unknown, Starved}, Idle: {},
		},
		migView.name: {
			CommInNode: {Working, Light}, CommBetween: {Unknown}, SmallKernels: {Light, Idle}, Stuck: {Light, Idle, Unknown}, PowerCap: {Working, ComputeBound}, ThermalCap: {Working, ComputeBound},
			Light: {Starved},
		},
		oldView.name: {CommBetween: {}, Starved: {}},
	}
	for _, hide := range []view{plainView, migView, oldView} {
		for i := range signatures {
			g := &signatures[i]
			for n := range 8 {
				v := verdictOf(g, uint64(99*i+n), 10, 1, hide)
				k := sameIdle(v.Kind)
				if k != g.want && !slices.Contains(allowed[hide.name][g.want], k) {
					t.Errorf("%s, %s: %s (%s)", hide.name, g.name, k, v.Words)
				}
				if hide.name == plainView.name && v.Confidence == High && k != Idle && k != PowerCap && k != ThermalCap && k != Starved && k != Light {
					t.Errorf("%s, %s: %s with high confidence", hide.name, g.name, k)
				}
			}
		}
	}
}

var communication = []Kind{CommInNode, CommBetween, CommBound, HostTransfer}

// More traffic never moves a minute away from waiting on links.
func TestMoreTraffic(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	for range 3000 {
		job := Job{Devices: r.IntN(9), Hosts: r.IntN(4)}
		base := second{caps: Caps{Known: true}}
		base.v = Values{Util: 70 + 30*r.Float64(), SM: 60 * r.Float64(), Tensor: 30 * r.Float64(), DRAM: 50 * r.Float64(), Power: 150 + 300*r.Float64(), Clock: 1900}
		for _, s := range []Signal{PCIeTx, PCIeRx, NVLinkTx, NVLinkRx, NetTx, NetRx} {
			base.v[s] = 20_000 * r.Float64() * float64(r.IntN(2))
		}
		before := kindOf(base, &job)
		more := base
		grow := []Signal{PCIeTx, PCIeRx, NVLinkTx, NVLinkRx}
		by := 1 + 3*r.Float64()
		for _, s := range grow {
			more.v[s] *= by
		}
		if after := kindOf(more, &job); slices.Contains(communication, before) && !slices.Contains(communication, after) {
			t.Fatalf("%v was %s, with %.1f times the traffic %s", base.v, before, by, after)
		}
	}
}

func kindOf(s second, job *Job) Kind {
	w := Window{Device: testDevice, Holders: 1}
	for i := range 60 {
		v := s.v
		v[Power] += float64(i % 7)
		w.Add(&v, 1_000_000, true, true, s.caps)
	}
	f := Minute(&w)
	var one Tally
	one.Add(&f, w.Time)
	return mostTime(Resolve(one, job))
}

// The order of minutes, and how they are put together, changes nothing; no time is lost or added.
func TestOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	var all []Tally
	total := int64(0)
	for i := range signatures {
		tally, _, _, _ := signatures[i].play(uint64(i), 5, 1, fullView)
		all = append(all, tally)
		total += tally.Total()
	}
	sum := func(of []Tally) (out Tally) {
		half := Tally{}
		for i, x := range of {
			if i%2 == 0 {
				out.Merge(x)
			} else {
				half.Merge(x)
			}
		}
		out.Merge(half)
		return out
	}
	want := sum(all)
	for range 20 {
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if got := sum(all); !slices.Equal(got, want) {
			t.Fatal("another order gives another sum")
		}
	}
	for _, job := range []Job{{}, {Devices: 1, Hosts: 1}, {Devices: 8, Hosts: 4, Work: Training, LongPauses: 90_000_000}} {
		time := int64(0)
		for _, f := range Resolve(want, &job) {
			time += f.Time
			if f.Lost < 0 || f.Lost > f.Time || f.Points < 0 || f.Confidence() > High {
				t.Errorf("%+v", f)
			}
		}
		if time != total || want.Total() != total {
			t.Errorf("%d us of findings, want %d", time, total)
		}
	}
}

// An independent model: a step computes for a while, then waits for a collective, for a copy or for
// input, each with a share of the step. A wait of over half of the step is the verdict, a wait of under a
// third of it is none. -v prints the shares between.
func TestSteps(t *testing.T) {
	kinds := []Kind{CommInNode, CommBetween, HostTransfer, Starved}
	found := map[Kind]*[10][2]int{}
	for _, k := range kinds {
		found[k] = &[10][2]int{}
	}
	r := rand.New(rand.NewPCG(11, 4))
	for range 480 {
		kind := kinds[r.IntN(len(kinds))]
		waits := 0.1 + 0.8*r.Float64()
		bin := &found[kind][int(10*waits)]
		bin[1]++
		if verdictOfSteps(r, kind, waits) == kind {
			bin[0]++
		}
	}
	for _, k := range kinds {
		low, high := [2]int{}, [2]int{}
		for i, b := range found[k] {
			if testing.Verbose() {
				t.Logf("%s waits %d%% of a step: found in %d of %d", k, 10*i+5, b[0], b[1])
			}
			if i >= 5 {
				high = [2]int{high[0] + b[0], high[1] + b[1]}
			}
			if i < 3 && k != Starved { // a pause of 15 % counts
				low = [2]int{low[0] + b[0], low[1] + b[1]}
			}
		}
		if float64(high[0]) < 0.95*float64(high[1]) || low[0] > 0 {
			t.Errorf("%s: found in %d of %d steps that wait over half, in %d of %d that wait under a third", k, high[0], high[1], low[0], low[1])
		}
	}
}

func verdictOfSteps(r *rand.Rand, kind Kind, waits float64) Kind {
	job := Job{Devices: 8, Hosts: 1, Work: Training}
	if kind == CommBetween {
		job.Hosts = 4
	}
	if kind == HostTransfer {
		job.Devices = 1
	}
	period := math.Exp(math.Log(0.2) + r.Float64()*math.Log(40)) // 0.2 to 8 s
	if kind == Starved {
		period = 4 + 6*r.Float64()
	}
	tally, rhythm := playSteps(r, kind, period, waits)
	job.Rhythm = rhythm
	return Overall(Resolve(tally, &job), math.NaN()).Kind
}

// playSteps samples ten minutes of steps at 1 Hz, each second the mean of its hundredths.
func playSteps(r *rand.Rand, kind Kind, period, waits float64) (tally Tally, rhythm Rhythm) {
	phase, length := 0.0, period
	for range 10 {
		w := Window{Device: testDevice, Holders: 1}
		for range 60 {
			var sum Values
			for range 100 {
				v := stepValues(kind, phase/length < 1-waits)
				for i := range sum {
					sum[i] += v[i] / 100
				}
				if phase += 0.01; phase >= length {
					phase, length = 0, period*(1+0.05*r.NormFloat64())
				}
			}
			sum[Power] += 5 * r.NormFloat64()
			w.Add(&sum, 1_000_000, sum[SM] >= 1 || sum[Util] >= 50, true, Caps{Known: true})
		}
		f := Minute(&w)
		tally.Add(&f, w.Time)
		rhythm.Merge(w.Rhythm)
	}
	return tally, rhythm
}

// stepValues is a GPU that computes or waits. A kernel of NCCL keeps about 15 % of SMs active.
func stepValues(kind Kind, computes bool) Values {
	if computes {
		return Values{Util: 100, SM: 92, Tensor: 50, DRAM: 40, Power: 600, Clock: 1950, PCIeTx: 50, PCIeRx: 100, NetTx: 3, NetRx: 3}
	}
	v := Values{Util: 100, SM: 15, DRAM: 10, Power: 260, Clock: 1950, PCIeTx: 50, PCIeRx: 100, NetTx: 3, NetRx: 3}
	switch kind {
	case CommInNode:
		v[NVLinkTx], v[NVLinkRx] = 260_000, 260_000
	case CommBetween:
		v[NVLinkTx], v[NVLinkRx], v[PCIeTx], v[PCIeRx], v[NetTx], v[NetRx] = 30_000, 30_000, 40_000, 40_000, 300_000, 300_000
	case HostTransfer:
		v[SM], v[PCIeTx], v[PCIeRx] = 0, 20_000, 45_000
	default:
		v = Values{Power: 90, Clock: 1400, NetTx: 3, NetRx: 3}
	}
	return v
}
