package eta

import "math"

// distribution is what is believed of a wait: its quantiles at 0, 1, … 100 %, on the log scale.
type distribution [101]float32

func distributionOf(sorted []float32) *distribution {
	var d distribution
	for k := range d {
		at := float64(k) / 100 * float64(len(sorted)-1)
		i := int(at)
		next := min(i+1, len(sorted)-1)
		d[k] = sorted[i] + float32(at-float64(i))*(sorted[next]-sorted[i])
	}
	return &d
}

// quantile returns the quantile at p, between two by a line.
func (d *distribution) quantile(p float64) float64 {
	at := min(max(p, 0), 1) * 100
	i := min(int(at), 99)
	return float64(d[i]) + (at-float64(i))*float64(d[i+1]-d[i])
}

// grain is less than a second near 0, on the log scale; it is above the rounding of a float32.
const grain = 1e-5

// chanceAbove returns the chance of a wait over so many seconds.
func (d *distribution) chanceAbove(seconds float64) float64 {
	y := float32(logWait(seconds) + grain)
	low, high := 0, len(d)
	for low < high {
		if mid := (low + high) / 2; d[mid] > y {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return float64(len(d)-low) / float64(len(d))
}

// drawBeyond returns a value of d above y, by chance u, for a job that has waited y already. Where
// d has none it is twice the wait.
func (d *distribution) drawBeyond(y float32, u float64) float32 {
	for k := range d {
		if d[k] > y {
			return d[min(k+int(u*float64(len(d)-k)), len(d)-1)]
		}
	}
	return y + float32(math.Log10(2))
}

// seconds returns a wait on the log scale in whole seconds.
func seconds(log float64) float64 { return math.Round(waitOf(log)) }
