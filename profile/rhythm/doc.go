// Package rhythm finds the period of a job's steps in regular samples of its GPUs, such as the share of SMs
// active once a second.
//
// A window is some minutes of one device. Its spectrum, over the noise around each frequency, shows lines
// where something repeats. The period is that of the comb of lines, a fundamental and its multiples, that
// holds most of their power (Schroeder 1968, period histogram and product spectrum). A window without a
// line far above the noise has no period.
//
// A signal that is sampled once a second shows no period under two seconds (Nyquist 1928). A shorter one
// is folded onto a longer one, but weakly, because the metrics are means over the interval. So a strong
// line is what it seems, and a weak one may be a shorter step: Found.Sure tells them apart.
package rhythm
