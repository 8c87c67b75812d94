package capcli

import "math/bits"

// MaxSeconds is the longest run time that a Way gives: 34,000 years, which every run's horizon cuts.
const MaxSeconds Seconds = 1 << 40

// Shape is how jobs of one kind may run: on which GPU models, how wide, how near to each other, and how
// long each way takes. Jobs of one kind share a Shape, and nothing changes it once it is made.
type Shape struct {
	Name  string
	Ways  []Way // widths and models in which the job may run, in the order of the file; empty is as the job says
	Needs Needs
	Near  Near
}

// Way is one width on one GPU model. The run time there is the job's Run times Num over Den, rounded up to
// whole seconds. Measured tables are not monotone: more GPUs may take longer.
type Way struct {
	Model    string // GPU model; "" is any
	GPUs     int
	Num, Den int64 // above 0
}

// RunTime returns how long work takes in this way that takes run as the job states it. The result is
// rounded up, and is at most MaxSeconds.
func (w *Way) RunTime(run Seconds) Seconds {
	if run <= 0 || w.Num == w.Den {
		return max(0, run)
	}
	hi, lo := bits.Mul64(uint64(run), uint64(w.Num))
	if hi >= uint64(w.Den) {
		return MaxSeconds
	}
	q, rest := bits.Div64(hi, lo, uint64(w.Den))
	if rest > 0 {
		q++
	}
	return Seconds(min(q, uint64(MaxSeconds)))
}
