package rhythm

import "math"

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
