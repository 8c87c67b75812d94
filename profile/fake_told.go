package profile

import "math"

// tellEvery is the time between two lines of a simulated program, in microseconds.
const tellEvery = 10_000_000

// tell adds what the training jobs say of themselves to t: the first rank tells of all of them. More GPUs are
// faster by less than their number.
func (f *Fake) tell(t *Tick, seconds float64) {
	if t.At/tellEvery == t.At.Add(-f.o.Every)/tellEvery && seconds*1e6 < tellEvery {
		return
	}
	for _, j := range f.jobs {
		age := t.At.Sub(j.start).Seconds()
		if j.fakeKind != &fakeKinds[FakeTraining] || age < 45 || math.Mod(age+j.phase, 1800) < 25 {
			continue
		}
		n := float64(len(j.gpus))
		pace := j.level / (1 + 0.06*math.Log2(n)) * (1 + 0.01*math.Sin(age/77))
		whose := Owner{User: j.user, Job: j.id}
		t.Readings = append(t.Readings,
			Reading{Owner: whose, Name: ToldTokens, Value: math.Round(11_500 * n * pace)},
			Reading{Owner: whose, Name: ToldMFU, Value: math.Round(4150*pace) / 100})
	}
}
