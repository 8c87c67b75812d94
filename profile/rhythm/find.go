package rhythm

import (
	"math"
	"slices"
)

// Periods that are looked for.
const (
	LeastSamples = 2.5 // samples in the shortest period
	LeastCycles  = 5   // periods in a window
)

// Rules that decide whether a line is one. They are set so that noise, white or drifting, shows a period
// in under 1 % of the windows (TestNoiseHasNoPeriod).
const (
	lineOver   = 22.0 // power of a line over the noise around it
	slowOver   = 50.0 // the same with fewer than slowCycles periods in the window, where the noise is known less well
	slowCycles = 12
	partOver   = 10.0 // the same of its multiples
	leastShare = 0.25 // of the power of the window is in the lines
	combShare  = 0.85 // of the power of the best comb, which a shorter period must hold to be preferred
	flat       = 0.25 // standard deviation under which a signal in percent says nothing
	flatShare  = 0.004
	foldedOver = 0.2  // cycles a sample; the multiples of slower ones are weak before they are folded
	sameAs     = 0.03 // share by which the periods of two signals differ at most
	mostParts  = 4    // a line may be this multiple of a fundamental that is weak itself
)

// Found is what a window shows.
type Found struct {
	Judged bool // there were samples enough, and work that changed
	// Period is the period in seconds; 0 where none is seen.
	Period float64
	// Sure says that it is not the image of a step shorter than two samples.
	Sure bool
}

// Finder looks for periods. It keeps its memory between windows.
type Finder struct {
	fft   transform
	hann  []float64
	power [2][]float64
	noise []float64
	band  []float64
	lines []line
}

// line is a peak of the spectrum.
type line struct {
	at    float64 // cycles a sample
	power float64 // sum over its width
	over  float64 // power over the noise around it
	high  float64 // power at its top
}

// Find looks for the period of a window, in the signal that shows it most clearly.
func (f *Finder) Find(w *Window) Found {
	var best Found
	bestShare := 0.0
	var all [NumSignals]Found
	var pair [2]Signal
	n := 0
	look := func() {
		f.spectra(w, pair[:n])
		for i, s := range pair[:n] {
			best.Judged = true
			period, share, sure := f.comb(w, s, f.power[i])
			all[s] = Found{true, period * w.every, sure}
			if period > 0 && share > bestShare {
				best.Period, bestShare = period*w.every, share
			}
		}
		n = 0
	}
	for s := range NumSignals {
		if !w.hasEnough(s) || w.isFlat(s) {
			continue
		}
		pair[n] = s
		if n++; n == len(pair) {
			look()
		}
	}
	if n > 0 {
		look()
	}
	for _, x := range all {
		best.Sure = best.Sure || x.Sure && math.Abs(x.Period-best.Period) < sameAs*best.Period
	}
	return best
}

// isFlat reports whether a signal hardly changes.
func (w *Window) isFlat(s Signal) bool {
	mean, n := 0.0, 0.0
	for _, v := range w.values[s][:w.slots] {
		if v == v {
			mean, n = mean+float64(v), n+1
		}
	}
	mean /= n
	sum := 0.0
	for _, v := range w.values[s][:w.slots] {
		if v == v {
			sum += (float64(v) - mean) * (float64(v) - mean)
		}
	}
	sd := math.Sqrt(sum / n)
	return sd < flatShare*math.Abs(mean) || s != Link && sd < flat
}

// spectra computes the power spectra of one or two signals with one transform: the second is the
// imaginary part.
func (f *Finder) spectra(w *Window, signals []Signal) {
	size := 1
	for size < 3*w.slots {
		size *= 2
	}
	f.fft.resize(size)
	if len(f.hann) != w.slots {
		f.hann = make([]float64, w.slots)
		for i := range f.hann {
			f.hann[i] = 0.5 - 0.5*math.Cos(2*math.Pi*(float64(i)+0.5)/float64(w.slots))
		}
	}
	clear(f.fft.re)
	clear(f.fft.im)
	for k, s := range signals {
		to := f.fft.re
		if k == 1 {
			to = f.fft.im
		}
		w.detrended(s, f.hann, to)
	}
	f.fft.run()
	half := size / 2
	for k := range f.power {
		if cap(f.power[k]) < half {
			f.power[k] = make([]float64, half)
		}
		f.power[k] = f.power[k][:half]
	}
	f.power[0][0], f.power[1][0] = 0, 0
	for i := 1; i < half; i++ {
		j := size - i
		re1, im1 := (f.fft.re[i]+f.fft.re[j])/2, (f.fft.im[i]-f.fft.im[j])/2
		re2, im2 := (f.fft.im[i]+f.fft.im[j])/2, (f.fft.re[j]-f.fft.re[i])/2
		f.power[0][i], f.power[1][i] = re1*re1+im1*im1, re2*re2+im2*im2
	}
}

// detrended writes a signal without its mean and its straight trend, weighted, to out. Missing samples are 0. The
// weights of the samples that are there make an amplitude of 1 a peak of power 1.
func (w *Window) detrended(s Signal, weights, out []float64) {
	var n, st, sv, stt, stv float64
	for i, v := range w.values[s][:w.slots] {
		if v != v {
			continue
		}
		t, x := float64(i), float64(v)
		n, st, sv, stt, stv = n+1, st+t, sv+x, stt+t*t, stv+t*x
	}
	slope := (n*stv - st*sv) / (n*stt - st*st)
	base := (sv - slope*st) / n
	sum := 0.0
	for i, v := range w.values[s][:w.slots] {
		if v == v {
			out[i] = (float64(v) - base - slope*float64(i)) * weights[i]
			sum += weights[i]
		}
	}
	for i := range out[:w.slots] {
		out[i] *= 2 / sum
	}
}

// bands is the number of places at which the noise is estimated.
const bands = 14

// background sets f.noise to the power of the noise at each frequency: the lower quartile of the power within
// a factor of 1.8 of it, made a mean as that of white noise. Lines fill less than that of a band.
func (f *Finder) background(power []float64, first int) {
	half := len(power)
	if cap(f.noise) < half {
		f.noise = make([]float64, half)
	}
	f.noise = f.noise[:half]
	ratio := math.Pow(float64(half-1)/float64(first), 1/float64(bands-1))
	var at, level [bands]float64
	for b := range bands {
		c := float64(first) * math.Pow(ratio, float64(b))
		lo, hi := int(c/1.8), min(half, int(c*1.8)+2)
		if hi-lo < 2*first { // few places at low frequencies
			hi = min(half, lo+2*first)
		}
		f.band = f.band[:0]
		for k, step := max(lo, 1), max(1, (hi-lo)/64); k < hi; k += step {
			f.band = append(f.band, power[k])
		}
		slices.Sort(f.band)
		const quartile = 0.2876820724517809 // -ln(3/4): of an exponential distribution with mean 1
		at[b], level[b] = math.Log(c), math.Log(f.band[len(f.band)/4]/quartile+1e-30)
	}
	b := 0
	for k := 1; k < half; k++ {
		x := math.Log(float64(k))
		for b < bands-2 && x > at[b+1] {
			b++
		}
		t := min(max((x-at[b])/(at[b+1]-at[b]), 0), 1)
		f.noise[k] = math.Exp(level[b] + t*(level[b+1]-level[b]))
	}
}

// comb returns the period, in samples, of the comb of lines that holds most power, the share of the
// window's power that it holds, and whether it is no image of a shorter one; 0 where there is none.
func (f *Finder) comb(w *Window, s Signal, power []float64) (period, share float64, sure bool) {
	size := float64(2 * len(power))
	width := int(math.Ceil(size / float64(w.slots))) // half of a line's width with this weighting, in places
	first := int(LeastCycles * size / float64(w.slots))
	f.background(power, first)
	total := 0.0
	for k := first - width; k < len(power); k++ {
		total += power[k]
	}
	top := f.findLines(power, first, width)
	over := lineOver
	if top.at*float64(w.slots) < slowCycles {
		over = slowOver
	}
	if top.over < over {
		return 0, 0, false
	}
	at, held := f.fundamental(w, top)
	if at == 0 || held < leastShare*total {
		return 0, 0, false
	}
	period, amplitude := f.refine(w, at)
	if period < LeastSamples || period*LeastCycles > float64(w.slots)*1.02 {
		return 0, 0, false
	}
	return period, held / total, s != Power && s != Link && amplitude > imageAtMost(period)
}

// findLines fills f.lines with the peaks over the noise, and returns the strongest.
func (f *Finder) findLines(power []float64, first, width int) (top line) {
	f.lines = f.lines[:0]
	size := float64(2 * len(power))
	for k := first; k < len(power)-1; k++ {
		p := power[k]
		if p < power[k-1] || p <= power[k+1] || p < partOver*f.noise[k] {
			continue
		}
		if n := len(f.lines); n > 0 && float64(k)/size-f.lines[n-1].at < float64(width)/size { // a side lobe
			if p <= f.lines[n-1].high {
				continue
			}
			f.lines = f.lines[:n-1]
		}
		a, b := math.Sqrt(power[k-1]), math.Sqrt(power[k+1])
		shift := 0.5 * (a - b) / (a - 2*math.Sqrt(p) + b) // vertex of the parabola through three places
		sum := 0.0
		for i := max(1, k-width); i <= min(len(power)-1, k+width); i++ {
			sum += power[i]
		}
		l := line{at: (float64(k) + shift) / size, power: sum, over: p / f.noise[k], high: p}
		f.lines = append(f.lines, l)
		if l.over > top.over {
			top = l
		}
	}
	return top
}

// fundamental returns the frequency of the comb that is preferred, and the power of the lines in it: of the combs of
// which the strongest line is a part, the one of the highest frequency that holds nearly the most power.
func (f *Finder) fundamental(w *Window, top line) (at, held float64) {
	most := 0.0
	var freqs, sums [mostParts]float64
	for m := range mostParts {
		g := top.at / float64(m+1)
		if g*float64(w.slots) < LeastCycles*0.98 {
			break
		}
		freqs[m] = g
		for _, l := range f.lines {
			if h := harmonic(l.at, g, 1/float64(w.slots)); h > 0 {
				sums[m] += l.power
			}
		}
		most = max(most, sums[m])
	}
	for m, g := range freqs {
		if g > 0 && sums[m] >= combShare*most {
			return g, sums[m]
		}
	}
	return 0, 0
}

// harmonic returns which multiple of a fundamental a line is, also the second or third one folded at half of the
// sampling rate; 0 where it is none. Higher multiples are off by as much more as the fundamental is.
func harmonic(at, fundamental, width float64) int {
	for h := 1; h <= 12; h++ {
		x := float64(h) * fundamental
		if x > 0.5 && (h > 3 || x >= 1 || fundamental < foldedOver) {
			return 0
		}
		if x > 0.5 {
			x = 1 - x
		}
		if math.Abs(x-at) < width*(0.6+0.15*float64(h)) {
			return h
		}
	}
	return 0
}

// refine returns the period by all lines of a comb that are not folded, and the amplitude of its fundamental.
func (f *Finder) refine(w *Window, at float64) (period, amplitude float64) {
	var sum, weight float64
	for _, l := range f.lines {
		h := math.Round(l.at / at)
		if h < 1 || math.Abs(l.at-h*at) > (0.6+0.15*h)/float64(w.slots) {
			continue
		}
		// A line is known to the same width, so that its h-th part is known h times as well.
		sum, weight = sum+l.at/h*l.power*h*h, weight+l.power*h*h
		if h == 1 {
			amplitude = math.Sqrt(l.high)
		}
	}
	if weight == 0 {
		return 1 / at, 0
	}
	return weight / sum, amplitude
}

// imageAtMost is the largest amplitude, in percent, that a shorter step can show at a period of p samples: a
// square wave between 0 and 100 % has the largest fundamental, 200/pi, and the mean over a sample leaves
// sin(pi f)/(pi f) of a frequency f. The nearest one whose image it is has f = 1 - 1/p.
func imageAtMost(p float64) float64 {
	const imageMargin = 1.25 // for noise
	x := math.Pi * (1 - 1/p)
	return imageMargin * 200 / math.Pi * math.Abs(math.Sin(x)/x)
}

// transform is a discrete Fourier transform of a fixed power-of-two size, with its tables.
type transform struct {
	size   int
	re, im []float64
	cos    []float64 // cos and sin of 2 pi k / size
	sin    []float64
}

// resize prepares a transform of size values, a power of two.
func (f *transform) resize(size int) {
	if f.size == size {
		return
	}
	f.size = size
	f.re, f.im = make([]float64, size), make([]float64, size)
	f.cos, f.sin = make([]float64, size/2), make([]float64, size/2)
	for k := range f.cos {
		f.sin[k], f.cos[k] = math.Sincos(2 * math.Pi * float64(k) / float64(size))
	}
}

// run transforms re and im in place (Cooley and Tukey 1965, radix 2).
func (f *transform) run() {
	n := f.size
	for i, j := 0, 0; i < n; i++ {
		if i < j {
			f.re[i], f.re[j] = f.re[j], f.re[i]
			f.im[i], f.im[j] = f.im[j], f.im[i]
		}
		bit := n >> 1
		for ; bit > 0 && j&bit != 0; bit >>= 1 {
			j ^= bit
		}
		j |= bit
	}
	for half := 1; half < n; half *= 2 {
		step := n / (2 * half)
		for k := range half {
			c, s := f.cos[k*step], f.sin[k*step]
			for i := k; i < n; i += 2 * half {
				j := i + half
				re, im := c*f.re[j]+s*f.im[j], c*f.im[j]-s*f.re[j]
				f.re[j], f.im[j] = f.re[i]-re, f.im[i]-im
				f.re[i], f.im[i] = f.re[i]+re, f.im[i]+im
			}
		}
	}
}
