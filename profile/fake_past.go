package profile

import (
	"context"
	"math"
	"slices"
	"time"

	"capcli"
	"capcli/profile/accelerator"
)

// FakeStay is a job on GPUs of one simulated box.
type FakeStay struct {
	Job, Tenant string
	Work        FakeWork
	Whole       int   // GPUs of the job, on all boxes
	GPUs        []int // those of this box
	From, To    Instant
}

// The past of simulated boxes is made of minutes: those of ten minutes of some hours of one day.
const (
	pastMinutes = 10
	pastHours   = 3                  // checkpoints come in one of them
	pastFree    = len(fakeKinds)     // a GPU that nobody holds
	pastGang    = len(fakeKinds) + 1 // FakeTraining on several GPUs
	pastWorks   = len(fakeKinds) + 2
)

// FakePast makes the past of simulated boxes by the hour. Each kind of work is simulated at a sample a second for ten
// minutes of three hours, FakeInference for ten of each hour of a day, and what is seen in these minutes repeats: a past
// of weeks takes no longer to make than the rows that it has.
type FakePast struct {
	seed    capcli.Seed
	minutes [pastWorks][24][pastMinutes]*Use
	ten     [pastWorks][24]*Use // all ten minutes
	whole   [pastWorks][24]*Use // the hour
}

// NewFakePast simulates the minutes.
func NewFakePast(seed capcli.Seed) *FakePast {
	p := &FakePast{seed: seed}
	f := NewFake(SourceOptions{Every: time.Second, Processes: 5 * time.Second, Seed: seed})
	works := f.showAll()
	hour := 0
	spans := NewSpanner(func(s *Span) {
		u := NewUse()
		u.Append(s.Use)
		w := works[s.Device.Index]
		p.minutes[w][hour][s.First/minuteMicros%pastMinutes] = u
	}, nil, nil)
	for hour = range 24 {
		if hour == pastHours {
			f.leave(FakeInference)
		}
		// Another part of each hour, since checkpoints come in a part of it.
		begin := Instant(hour)*hourMicros + Instant(5*hour%6*pastMinutes)*minuteMicros
		for second := range Instant(60 * pastMinutes) {
			t := Tick{At: fakeDay + begin + second*1_000_000, Every: time.Second}
			_ = f.Read(context.Background(), &t) // it never fails
			spans.Add(f.Host(), &t)
			if second%60 == 59 {
				spans.Flush()
			}
		}
	}
	for w := range p.ten {
		for h := range p.ten[w] {
			if h >= pastHours && w != int(FakeInference) {
				p.minutes[w][h], p.ten[w][h], p.whole[w][h] = p.minutes[w][h%pastHours], p.ten[w][h%pastHours], p.whole[w][h%pastHours]
				continue
			}
			p.ten[w][h], p.whole[w][h] = NewUse(), NewUse()
			for _, u := range p.minutes[w][h] {
				p.ten[w][h].Append(u)
			}
			for range 60 / pastMinutes {
				p.whole[w][h].Append(p.ten[w][h])
			}
		}
	}
	return p
}

// fakeDay is the day that is simulated.
const fakeDay = Instant(20_000 * 24 * hourMicros)

// showAll puts one job of each kind of work on a GPU each, for the whole day. It returns the work of each GPU.
func (f *Fake) showAll() [fakeGPUs]int {
	f.begun, f.last = true, fakeDay
	var out [fakeGPUs]int
	from, to := fakeDay-2*hourMicros, fakeDay+48*hourMicros
	for k := range fakeKinds {
		f.start(from, to, &fakeKinds[k], k)
		out[k] = k
	}
	f.start(from, to, &fakeKinds[FakeTraining], len(fakeKinds))
	f.jobs[len(f.jobs)-1].gpus = slices.Repeat([]int{len(fakeKinds)}, 4)
	out[len(fakeKinds)], out[fakeGPUs-1] = pastGang, pastFree
	f.gpus[fakeGPUs-1].free = math.MaxInt64
	return out
}

// leave has all jobs end but those of a kind of work, and no other begin.
func (f *Fake) leave(work FakeWork) {
	f.jobs = slices.DeleteFunc(f.jobs, func(j *fakeJob) bool { return j.fakeKind != &fakeKinds[work] })
	for g := range f.gpus {
		if j := f.gpus[g].job; j != nil && j.fakeKind != &fakeKinds[work] {
			f.gpus[g].job, f.gpus[g].free = nil, math.MaxInt64
		}
	}
}

// Spans gives the spans of a box with a name and a number, day by day, those of a device in order. from and to are
// midnights, and stays are in order and do not overlap on a GPU. They count in whole minutes.
func (p *FakePast) Spans(host string, number int, from, to Instant, stays []FakeStay, span func(*Span)) {
	box := NewFake(SourceOptions{Seed: p.seed.Child(1 + number)})
	var on [fakeGPUs][]*FakeStay
	for i := range stays {
		for _, g := range stays[i].GPUs {
			on[g] = append(on[g], &stays[i])
		}
	}
	for day := from; day < to; day += 24 * hourMicros {
		for g, list := range on {
			for hour := day; hour < day+24*hourMicros; hour += hourMicros {
				list = p.hour(host, box.devices[g], hour, list, span)
			}
			on[g] = list
		}
	}
}

// hour gives the spans of an hour of a device, and returns the stays that do not end in it.
func (p *FakePast) hour(host string, d *Device, hour Instant, list []*FakeStay, span func(*Span)) []*FakeStay {
	at, end := hour, hour+hourMicros
	give := func(to Instant, s *FakeStay) {
		if to <= at {
			return
		}
		out := Span{
			Host: host, Device: d, Hour: hour, Begin: at - 1_000_000, First: at, Last: to - 1_000_000,
			Share: accelerator.WholeGPU, Samples: int64(to-at) / 1_000_000,
		}
		work := pastFree
		if s != nil {
			work = int(s.Work)
			if s.Work == FakeTraining && s.Whole > 1 {
				work = pastGang
			}
		}
		out.Use = p.use(work, int(hour/hourMicros%24), int((at-hour)/minuteMicros), int((to-hour)/minuteMicros))
		if s != nil {
			k := &fakeKinds[s.Work]
			out.Parts = []Part{{Holder{Kind: "slurm", Name: s.Job, Tenant: s.Tenant, Command: k.command}, out.Use}}
		}
		span(&out)
		at = to
	}
	for len(list) > 0 && list[0].From < end {
		s := list[0]
		give(max(at, s.From-s.From%minuteMicros), nil)
		to := min(end, s.To-s.To%minuteMicros)
		give(to, s)
		if s.To >= end {
			if s.To == end {
				list = list[1:]
			}
			return list
		}
		list = list[1:]
	}
	give(end, nil)
	return list
}

// use returns what is seen of a kind of work from one minute of an hour to another. It is not to be changed.
func (p *FakePast) use(work, hour, from, to int) *Use {
	if from == 0 && to == 60 {
		return p.whole[work][hour]
	}
	out := NewUse()
	for from < to {
		if from%pastMinutes == 0 && to-from >= pastMinutes {
			out.Append(p.ten[work][hour])
			from += pastMinutes
			continue
		}
		out.Append(p.minutes[work][hour][from%pastMinutes])
		from++
	}
	return out
}
