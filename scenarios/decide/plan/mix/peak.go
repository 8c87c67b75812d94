package mix

import "capcli"

// hoursMost is the most hours that hourlyPeak looks at: fifty years.
const hoursMost = 50 * 366 * 24

// hourlyPeak returns the highest hourly mean of GPU demand, rounded up to whole GPUs: the GPUs that
// the jobs would hold if none ever waited. It looks at the hours from the first submission to the
// last.
func hourlyPeak(jobs []capcli.Job, killAtLimit bool) int64 {
	if len(jobs) == 0 {
		return 0
	}
	first := jobs[0].Submit
	n := int64(jobs[len(jobs)-1].Submit-first)/3600 + 1
	n = min(n, hoursMost)
	part := make([]int64, n)    // thousandths of GPU-seconds in hours that a job holds only in part
	whole := make([]int64, n+1) // change of the rate from this hour on, in thousandths of GPUs, by jobs that hold the whole hour
	for i := range jobs {
		j := &jobs[i]
		from := int64(j.Submit - first)
		to := min(from+int64(runTime(j, killAtLimit)), n*3600)
		if from < 0 || from >= to {
			continue
		}
		a, b := from/3600, to/3600
		if a == b {
			part[a] += j.Milli() * (to - from)
			continue
		}
		part[a] += j.Milli() * ((a+1)*3600 - from)
		if b < n {
			part[b] += j.Milli() * (to - b*3600)
		}
		whole[a+1] += j.Milli()
		whole[b] -= j.Milli()
	}
	var rate, most int64
	for h := range part {
		rate += whole[h]
		most = max(most, rate*3600+part[h])
	}
	return (most + 3_599_999) / 3_600_000
}
