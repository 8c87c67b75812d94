package width

import (
	"cmp"
	"slices"

	"capcli"
)

// bound returns a value that no schedule is below that follows from f with the jobs that are left.
func (s *moldable) bound(f *front, left []int) int64 {
	switch s.goal {
	case Makespan:
		return s.boundMakespan(f, left)
	case SumCompletion:
		return s.boundSum(f, left)
	default: // FewestLate
		return s.boundLate(f, left)
	}
}

// soonest returns the earliest end of job i after f.
func (s *moldable) soonest(f *front, i int) capcli.Seconds {
	j := &s.jobs[i]
	end := max(j.Submit, f.freeAt(j.Points[0].GPUs)) + j.Points[0].Run
	for _, p := range j.Points[1:] {
		end = min(end, max(j.Submit, f.freeAt(p.GPUs))+p.Run)
	}
	return end
}

// byArea returns the time at which the GPUs of f, from a time on, have done so much work, rounded up.
func (f *front) byArea(from, area capcli.Seconds) capcli.Seconds {
	now, gpus := from, capcli.Seconds(0)
	for _, x := range f.steps {
		if at := max(from, x.at); at > now {
			span := (at - now) * gpus
			if span >= area {
				break
			}
			now, area = at, area-span
		}
		gpus += capcli.Seconds(x.gpus)
	}
	return now + (area+gpus-1)/max(1, gpus)
}

// boundMakespan: each job ends no sooner than it can alone, and the jobs that come from a time on need their
// least GPU time after it.
func (s *moldable) boundMakespan(f *front, left []int) int64 {
	most := capcli.Seconds(f.value)
	for _, i := range left {
		most = max(most, s.soonest(f, i))
		from, area := s.jobs[i].Submit, capcli.Seconds(0)
		for _, k := range left {
			if s.jobs[k].Submit >= from {
				area += leastArea(&s.jobs[k])
			}
		}
		most = max(most, f.byArea(from, area))
	}
	return int64(most)
}

// boundSum: the k-th job to end does so no sooner than the k-th of the soonest ends, and no sooner than the
// GPUs can have done the k least areas (Eastman, Even and Isaacs, Management Science 1964).
func (s *moldable) boundSum(f *front, left []int) int64 {
	var ends, areas []capcli.Seconds
	sum := f.value
	from := capcli.MaxSeconds
	for _, i := range left {
		ends = append(ends, s.soonest(f, i))
		areas = append(areas, leastArea(&s.jobs[i]))
		sum -= int64(s.jobs[i].Submit)
		from = min(from, s.jobs[i].Submit)
	}
	slices.Sort(ends)
	slices.Sort(areas)
	var area capcli.Seconds
	for k := range ends {
		area += areas[k]
		sum += int64(max(ends[k], f.byArea(from, area)))
	}
	return sum
}

// boundLate: jobs that are late even alone, and those that must be given up so that the least areas of the
// rest fit before each deadline (Moore, Management Science 1968, on the GPUs taken as one machine).
func (s *moldable) boundLate(f *front, left []int) int64 {
	late := f.value
	var on []int
	for _, i := range left {
		if s.soonest(f, i) > s.jobs[i].Deadline {
			late++
			continue
		}
		on = append(on, i)
	}
	slices.SortStableFunc(on, func(a, b int) int { return cmp.Compare(s.jobs[a].Deadline, s.jobs[b].Deadline) })
	var kept []capcli.Seconds
	var sum capcli.Seconds
	for _, i := range on {
		kept = append(kept, leastArea(&s.jobs[i]))
		if sum += kept[len(kept)-1]; f.byArea(0, sum) > s.jobs[i].Deadline {
			k := slices.Index(kept, slices.Max(kept))
			sum -= kept[k]
			kept = slices.Delete(kept, k, k+1)
			late++
		}
	}
	return late
}
