package inputs

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"capcli"
	"capcli/profile"
)

// join joins the jobs of all inputs, in order of submission.
//
// Two logs add up. A job with the same id, submission, size and tenant in two of them is one job; another job with an
// id that is taken gets the name of its log before it. A job of a recording that has the id of a job of a log and ran
// at its time is that job, and so is one of another id with its tenant, GPUs, start and end: the log says what was
// asked for, the recording fills in what the log does not say. A service takes the place of jobs of its name.
func (r *reading) join() ([]capcli.Job, error) {
	jobs := r.joinLogs()
	jobs, err := r.joinRecording(jobs)
	if err != nil {
		return nil, err
	}
	for _, p := range r.partsOf(Table) {
		jobs = append(jobs, p.jobs...)
	}
	if jobs, err = r.joinServices(jobs); err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		if jobs, err = r.billJobs(); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(jobs, func(a, b capcli.Job) int { return cmp.Compare(a.Submit, b.Submit) })
	if r.hasNoStarts() { // what waited of the whole cannot be said, and what ran would be that of some inputs alone
		for i := range jobs {
			jobs[i].Start, jobs[i].End = capcli.NoTime, capcli.NoTime
		}
	}
	return jobs, nil
}

// hasNoStarts reports whether a log says of no job when it started.
func (r *reading) hasNoStarts() bool {
	return slices.ContainsFunc(r.partsOf(Log), func(p *part) bool {
		return !slices.ContainsFunc(p.jobs, func(j capcli.Job) bool { return j.Start.IsKnown() })
	})
}

func (r *reading) joinLogs() []capcli.Job {
	type key struct {
		id, tenant string
		submit     capcli.Time
		milli      int64
	}
	var out []capcli.Job
	at := map[key]int{}
	owner := map[string]int{} // number of the log that has an id
	for n, p := range r.partsOf(Log) {
		twice, renamed := int64(0), int64(0)
		mine := len(out)
		for _, j := range p.jobs {
			k := key{j.ID, j.Tenant, j.Submit, j.Milli()}
			if i, ok := at[k]; ok && i < mine && j.ID != "" {
				twice++
				if j.Run > out[i].Run { // it ran on when the other log was written
					out[i] = j
				}
				continue
			}
			if o, taken := owner[j.ID]; taken && o != n && j.ID != "" {
				renamed++
				j.ID = filepath.Base(p.File) + ":" + j.ID
			} else {
				owner[j.ID] = n
			}
			at[k] = len(out)
			out = append(out, j)
		}
		if twice > 0 {
			r.note(p.File, fmt.Sprintf("%s %s in an earlier log too (the same id, submission, GPUs and tenant), and %s once", capcli.Grouped(twice), capcli.Agree(twice, "job is", "jobs are"), capcli.Agree(twice, "counts", "count")))
		}
		if renamed > 0 {
			r.note(p.File, fmt.Sprintf("%s %s the id of a job of an earlier log, and %s another job: as of two clusters, both count", capcli.Grouped(renamed), capcli.Agree(renamed, "job has", "jobs have"), capcli.Agree(renamed, "is", "are")))
		}
	}
	return out
}

// slack is by how much the clocks of a log and of a recording, and what comes between a start and the first sample,
// may differ.
const slack = 5 * capcli.Time(capcli.Minute)

// joinRecording joins the recorded jobs with those of the logs.
func (r *reading) joinRecording(jobs []capcli.Job) ([]capcli.Job, error) {
	recordings := r.partsOf(Recording)
	if len(recordings) == 0 {
		return jobs, nil
	}
	p, logged := recordings[0], len(jobs)
	m := newMatcher(jobs)
	var alone []capcli.Job // within the time of the logs, without a job of theirs
	var rest []capcli.Job
	found := int64(0)
	for _, j := range p.jobs {
		switch i := m.find(&j); {
		case i >= 0:
			merge(&jobs[i], &j)
			found++
		case logged > 0 && j.Start <= m.to && j.End >= m.from:
			alone = append(alone, j)
		default:
			rest = append(rest, j)
		}
	}
	jobs = append(jobs, rest...)
	if logged == 0 || len(alone) == 0 && found == 0 {
		return jobs, nil
	}
	if found > 0 {
		p.Took += fmt.Sprintf("; %s of its jobs %s in the log too and %s once", capcli.Grouped(found), capcli.Agree(found, "is", "are"), capcli.Agree(found, "counts", "count"))
	} else if r.Joined == "" {
		return nil, r.askSame(p, recordedText(alone))
	}
	if m.twins > 0 {
		r.note(p.File, fmt.Sprintf("%s recorded %s another id in the log, and %s told by tenant, GPUs and times", capcli.Grouped(m.twins), capcli.Agree(m.twins, "job has", "jobs have"), capcli.Agree(m.twins, "is", "are")))
	}
	if r.Joined == Same {
		r.note(p.File, fmt.Sprintf("%s in the time of the log, that no job of the log matches, do not count (--read joined=same)", recordedText(alone)))
		return jobs, nil
	}
	if found > 0 && len(alone) > 0 {
		r.note(p.File, fmt.Sprintf("%s in the time of the log %s in it, such as %s, and %s too: work beside the scheduler", recordedText(alone), capcli.Agree(int64(len(alone)), "is not", "are not"), capcli.Quoted(alone[0].ID), capcli.Agree(int64(len(alone)), "counts", "count")))
	}
	for _, j := range alone {
		if len(m.byID[j.ID]) > 0 {
			j.ID = filepath.Base(p.File) + ":" + j.ID
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// matcher finds the job of a log that a recorded job is.
type matcher struct {
	jobs     []capcli.Job
	byID     map[string][]int
	alike    map[twin][]int // jobs with a tenant and a start, by their start
	taken    map[int]bool
	twins    int64       // jobs that were found by tenant, GPUs and times
	from, to capcli.Time // first and last submission
}

// twin is what a job and its recording have in common where their ids differ.
type twin struct {
	tenant string
	milli  int64
}

func newMatcher(jobs []capcli.Job) *matcher {
	m := &matcher{jobs: jobs, byID: map[string][]int{}, alike: map[twin][]int{}, taken: map[int]bool{}, from: capcli.NoTime, to: capcli.NoTime}
	for i := range jobs {
		j := &jobs[i]
		m.byID[j.ID] = append(m.byID[j.ID], i)
		if j.Tenant != "" && j.Start.IsKnown() {
			k := twin{j.Tenant, j.Milli()}
			m.alike[k] = append(m.alike[k], i)
		}
		if !m.from.IsKnown() || j.Submit < m.from {
			m.from = j.Submit
		}
		m.to = max(m.to, j.Submit)
	}
	for _, list := range m.alike {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(jobs[a].Start, jobs[b].Start) })
	}
	return m
}

// find returns the index of a recorded job among those of the logs: by its id and time, else by its tenant, GPUs,
// start and end. It is -1 where it is none of them.
func (m *matcher) find(seen *capcli.Job) int {
	for _, i := range m.byID[seen.ID] {
		if isJob(&m.jobs[i], seen) {
			m.taken[i] = true
			return i
		}
	}
	list := m.alike[twin{seen.Tenant, seen.Milli()}]
	first, _ := slices.BinarySearchFunc(list, seen.Start-slack, func(i int, at capcli.Time) int { return cmp.Compare(m.jobs[i].Start, at) })
	for _, i := range list[first:] {
		j := &m.jobs[i]
		if j.Start > seen.Start+slack {
			break
		}
		if !m.taken[i] && isNear(j.Start, seen.Start) && isNear(j.Start+capcli.Time(j.Run), seen.End) {
			m.taken[i] = true
			m.twins++
			return i
		}
	}
	return -1
}

func isNear(a, b capcli.Time) bool { return max(a, b)-min(a, b) <= slack }

// isJob reports whether a recorded job is a job of a log with the same id, by the time at which it ran.
func isJob(log, seen *capcli.Job) bool {
	start, end := log.Submit, capcli.NoTime
	if log.Start.IsKnown() {
		start, end = log.Start, log.Start+capcli.Time(log.Run)
	}
	return seen.End >= start-slack && (!end.IsKnown() || seen.Start <= end+slack)
}

// merge fills in what a log does not say of a job.
func merge(log, seen *capcli.Job) {
	log.GPUModel, log.Tenant = cmp.Or(log.GPUModel, seen.GPUModel), cmp.Or(log.Tenant, seen.Tenant)
	log.Tags = log.Tags.Merge(seen.Tags)
	if log.Class != seen.Class {
		log.Tags = log.Tags.Merge(capcli.NewTags(capcli.Tag{Name: profile.VerdictTag, Value: seen.Class}))
	}
	if log.GPUs == 0 {
		log.GPUs, log.GPUMilli = seen.GPUs, seen.GPUMilli
	}
	if log.Start.IsKnown() && log.End.IsKnown() {
		return
	}
	if !log.Start.IsKnown() {
		log.Start = max(seen.Start, log.Submit)
	}
	if ran := capcli.Seconds(seen.End - log.Start); ran > log.Run { // it ran on after the log was written
		log.Run = ran
	}
	if seen.State != "RUNNING" {
		log.End = log.Start + capcli.Time(log.Run)
	}
}

// askSame asks whether a recording and the logs are of the same machines.
func (r *reading) askSame(p *part, what string) error {
	return &capcli.ResultError{
		Kind: capcli.NoPlan,
		Text: fmt.Sprintf("%s and %s cover the same days and have no job in common (by id, or by tenant, GPUs and times): %s may be jobs of the log under other ids, or work of other machines", r.partsOf(Log)[0].File, p.File, what),
		Hint: "--read joined=apart where they are of different machines (both count), --read joined=same where they are of the same (the log counts)",
	}
}

// recordedText says how many jobs were recorded, and what they held.
func recordedText(jobs []capcli.Job) string {
	var work capcli.GPUTime
	for i := range jobs {
		work += jobs[i].Work()
	}
	n := int64(len(jobs))
	return fmt.Sprintf("%s recorded %s (%s GPU-hours)", capcli.Grouped(n), capcli.Plural(n, "job"), hoursText(work.Hours()))
}

// joinServices adds the services, over the time of the other inputs, else of their own requests.
func (r *reading) joinServices(jobs []capcli.Job) ([]capcli.Job, error) {
	if len(r.services) == 0 {
		return jobs, nil
	}
	from, until := capcli.NoTime, capcli.NoTime
	widen := func(a, b capcli.Time) {
		if !from.IsKnown() || a < from {
			from = a
		}
		until = max(until, b)
	}
	for i := range jobs {
		widen(jobs[i].Submit, jobs[i].Submit+1)
	}
	if len(jobs) == 0 {
		for _, l := range r.services {
			if !l.start.IsKnown() {
				return nil, &capcli.InputError{File: l.File, Text: "expected dates to place its load at, found none: neither its requests nor another input has any", Hint: "give a job log or a recording beside it, or requests with dates"}
			}
			widen(l.start, l.start+capcli.Time(len(l.gpus))*hour)
		}
	}
	added := len(jobs)
	for _, l := range r.services {
		kept, own := l.cutOwn(jobs[:added])
		jobs = append(kept, jobs[added:]...)
		added = len(kept)
		if skip, err := r.isRecorded(l, own, from, until); err != nil || skip {
			if err != nil {
				return nil, err
			}
			continue
		}
		some, err := l.spread(from, until)
		if err != nil {
			return nil, &capcli.InputError{File: l.File, Text: err.Error()}
		}
		l.jobs = some
		jobs = append(jobs, some...)
		l.say(r, own, from, until)
	}
	return jobs, nil
}

// cutOwn returns jobs without those of the service, and those.
func (l *load) cutOwn(jobs []capcli.Job) (kept, own []capcli.Job) {
	for i := range jobs {
		if l.isOwn(&jobs[i]) {
			own = append(own, jobs[i])
		} else {
			kept = append(kept, jobs[i])
		}
	}
	return kept, own
}

// isOwn reports whether a job is the service, by its name: that of the job, of its pod (chat-7d9f-x2x, with its
// namespace or without), of its tenant or its queue.
func (l *load) isOwn(j *capcli.Job) bool {
	if strings.EqualFold(j.ID, l.name) || strings.EqualFold(j.Tenant, l.name) || strings.EqualFold(j.Partition, l.name) {
		return true
	}
	_, pod, ok := strings.Cut(j.ID, "/")
	if !ok {
		pod = j.ID
	}
	rest, ok := strings.CutPrefix(strings.ToLower(pod), strings.ToLower(l.name)+"-")
	return ok && rest != ""
}

// isRecorded reports whether a service is in a recording already, under a name that is not its own. Where a
// recording covers its time and has none of its jobs, only the user knows.
func (r *reading) isRecorded(l *load, own []capcli.Job, from, until capcli.Time) (bool, error) {
	recordings := r.partsOf(Recording)
	if len(own) > 0 || len(recordings) == 0 || !slices.ContainsFunc(recordings[0].jobs, func(j capcli.Job) bool { return j.End >= from && j.Start < until }) {
		return false, nil
	}
	switch r.Joined {
	case Same:
		l.Took = "nothing: " + recordings[0].File + " has its GPUs already (--read joined=same)"
		return true, nil
	case Apart:
		return false, nil
	}
	return false, &capcli.ResultError{
		Kind: capcli.NoPlan,
		Text: fmt.Sprintf("no job that %s recorded is called %s: the service may run on other machines, or be recorded under another name and count twice", recordings[0].File, l.name),
		Hint: "--read joined=apart where it runs on other machines, joined=same where it is recorded; or give the description the name of its jobs (name:)",
	}
}

// say says what was taken of the service.
func (l *load) say(r *reading, own []capcli.Job, from, until capcli.Time) {
	r.fill(l.part)
	least, most := slices.Min(l.gpus), slices.Max(l.gpus)
	l.Took = fmt.Sprintf("%d to %d GPUs by the hour, sized at its promise, %s GPU-hours, always there", least, most, hoursText(l.GPUHours.Hours()))
	end := l.start + capcli.Time(len(l.gpus))*hour
	if !l.start.IsKnown() || l.start > from+hour || end < until-hour {
		l.Took += fmt.Sprintf("; its requests cover %s, and other hours are taken as %s", DaysText(l.Days), l.periodText())
	}
	if len(own) > 0 {
		l.Took += "; it takes the place of " + strings.Replace(recordedText(own), "recorded ", "", 1) + " of its name"
	}
}
