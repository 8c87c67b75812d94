package trace

import (
	"bytes"
	"fmt"
	"strings"

	"capcli"
)

func init() {
	Formats.Add("sacct", "Slurm accounting: sacct -P, with its header line or with the names given to --format; sacct --json",
		Format{Sniff: sniffSacct, Read: readSacct, Mapped: true, Tagged: true})
}

// sacctHeld is the number of jobs that are held back for later rows of the same jobs
// (attempts after a requeue, the same job in the next month's dump).
const sacctHeld = 1 << 16

func sniffSacct(head []byte) bool {
	return sniffSacctTable(head) || sniffSacctJSON(head) || bytes.Count(head[:min(len(head), 4096)], []byte{'|'})+bytes.Count(head[:min(len(head), 4096)], []byte{0x1f}) > 3 && guessColumns(head) != nil
}

func sniffSacctTable(head []byte) bool {
	cols := headColumns(head)
	return !sniffSqueue(head) && (cols["jobid"] || cols["jobidraw"]) && (cols["submit"] || cols["start"] || cols["state"] || cols["elapsedraw"])
}

// sacct folds rows into jobs. It holds jobs in a ring, in the order of their first rows.
type sacct struct {
	r     *Reader
	t     *table
	c     sacctCols
	clock clock
	ids   arena
	names sacctNames

	held    map[string]int // index in ring, by key
	ring    []slurmJob
	oldest  int    // index in ring of the oldest job
	last    string // id of the last job row, to which the next steps belong
	cluster string // name of the first cluster in the log
	now     bool   // the rows say what runs and waits now: waiting jobs are kept

	named map[string][]string // ids of the latest jobs by user and name, for singletons; nil without dependencies

	lostN int64          // attempts that a later attempt replaced
	lost  capcli.GPUTime // their work
}

// sacctNames interns the texts of jobs.
type sacctNames struct{ tenant, partition, model, class, state names }

// slurmJob is a held job, of which more rows may follow.
type slurmJob struct {
	key     string      // as sacct.key returns it
	job     capcli.Job  // the last attempt that started, else the last attempt
	submit  capcli.Time // submit of the attempt in job
	latest  capcli.Time // submit of the last attempt, started or not
	state   string      // state at the end of the last attempt
	started bool        // the attempt in job started
	line    int         // line of the job's first row
	raw     []byte      // text of the job's first row; nil without Options.Rejects
}

func readSacct(r *Reader) error {
	if head := beginsJSON(r.text.Head(HeadBytes)); len(head) > 0 && (head[0] == '{' || head[0] == '[') {
		return readSacctJSON(r)
	}
	t, err := sacctTable(r)
	if err != nil {
		return err
	}
	s, err := newSacct(r, t)
	if err != nil {
		return err
	}
	t.mend = s.mend
	for t.nextRow() {
		more, err := s.row()
		if err != nil || !more {
			return err
		}
	}
	return s.drain()
}

// newSacct returns a reader of the jobs in t. It fails where t lacks a required field.
func newSacct(r *Reader, t *table) (*sacct, error) {
	cols, err := findSacctCols(t)
	if err != nil {
		return nil, err
	}
	if err := t.findTags(nil); err != nil {
		return nil, err
	}
	return &sacct{
		r: r, t: t, c: cols, held: map[string]int{},
		clock: r.newClock(),
	}, nil
}

// sacctTable returns the table under the header line, or under the names in Options.Columns
// where there is no header line.
func sacctTable(r *Reader) (*table, error) {
	head := r.text.Head(HeadBytes)
	line, _, _ := bytes.Cut(bytes.TrimPrefix(head, []byte("\ufeff")), []byte{'\n'})
	sep := capcli.FindSeparator(line, separators)
	for _, want := range []byte{'|', 0x1f} {
		if bytes.IndexByte(line, want) >= 0 {
			sep = want
		}
	}
	names := r.o.Columns
	if len(names) == 0 && !sniffSacctTable(head) {
		if names = guessColumns(head); names != nil {
			r.noteGuess(names)
		}
	}
	if len(names) == 0 || sniffSacctTable(head) {
		return newTable(r, capcli.Fields{Separator: sep, Bare: true})
	}
	t := &table{r: r, Fields: capcli.Fields{Separator: sep, Bare: true}}
	for _, name := range names {
		name, _, _ = strings.Cut(strings.TrimSpace(name), "%")
		t.names = append(t.names, name)
	}
	if len(t.names) > capcli.MaxColumns {
		return nil, r.fault(0, "", fmt.Sprintf("%d columns are named, the limit is %d", len(t.names), capcli.MaxColumns), "correct --columns-in")
	}
	return t, nil
}

// row handles one row: a step, the first row of a job, or another row of a held job. It
// reports whether reading goes on. It fails where a time has no zone and Options.TZ is nil.
func (s *sacct) row() (more bool, err error) {
	id := trim(s.t.cell(s.c.id))
	if len(id) == 0 {
		return s.r.Reject(s.t.line, s.t.Raw, "JobID: missing"), nil
	}
	if dot := bytes.IndexByte(id, '.'); dot >= 0 {
		return s.step(id[:dot]), nil
	}
	s.last = s.ids.copyString(id)
	row, err := s.parse()
	if err != nil {
		return false, err
	}
	if row.bad != "" {
		return s.r.Reject(s.t.line, s.t.Raw, row.bad), nil
	}
	key := s.key(&row.job)
	if at, ok := s.held[key]; ok {
		s.r.Fold(1)
		s.merge(&s.ring[at], &row)
		return true, nil
	}
	return s.hold(key, &row), nil
}

// step counts a step as folded into the job with id base, or rejects it where the log does
// not have that job. It reports whether reading goes on.
func (s *sacct) step(base []byte) bool {
	if string(base) == s.last || s.r.seen.Contains(string(base)) {
		s.r.Fold(1)
		return true
	}
	if _, ok := s.held[string(base)]; ok {
		s.r.Fold(1)
		return true
	}
	return s.r.Reject(s.t.line, s.t.Raw, "step of a job that is not in the log")
}

// key returns the key of the job to which a row belongs, the same for all its attempts. A job
// id is unique only within a cluster, so key puts the name of the cluster before the id of a
// job that is not of the first cluster.
func (s *sacct) key(job *capcli.Job) string {
	if name := s.t.cell(s.c.cluster); len(name) > 0 {
		if s.cluster == "" {
			s.cluster = string(name)
		}
		if s.cluster != string(name) {
			job.ID = string(name) + ":" + job.ID
		}
	}
	return job.ID
}

// hold puts a job in the ring. Where the ring is full it releases the oldest job first. It
// reports whether reading goes on.
func (s *sacct) hold(key string, row *slurmRow) bool {
	h := slurmJob{
		key: key, job: row.job, submit: row.job.Submit, latest: row.job.Submit,
		state: row.job.State, started: row.started, line: s.t.line,
	}
	if s.r.o.Rejects != nil {
		h.raw = bytes.Clone(s.t.Raw)
	}
	if len(s.ring) < sacctHeld {
		s.held[key] = len(s.ring)
		s.ring = append(s.ring, h)
		return true
	}
	if !s.release(&s.ring[s.oldest]) {
		return false
	}
	delete(s.held, s.ring[s.oldest].key)
	s.ring[s.oldest] = h
	s.held[key] = s.oldest
	s.oldest = (s.oldest + 1) % sacctHeld
	return true
}

// merge adds another row to a held job: the same attempt again (the more complete row is
// kept), a further piece of it, or another attempt. The job keeps its earliest submit and the eligible time with it. Its
// run is that of the last attempt that started, its state that of the last attempt.
func (s *sacct) merge(h *slurmJob, row *slurmRow) {
	was, now := &h.job, row.job
	first, eligible := min(was.Submit, now.Submit), firstEligible(was, &now)
	newer := now.Submit > h.submit || now.Submit == h.submit && now.Start > was.Start
	take := newer
	switch {
	case row.started != h.started:
		take = row.started
	case !row.started:
	case now.Start == was.Start:
		take = now.End.IsKnown() && !was.End.IsKnown() || now.Run > was.Run
	case now.Submit == h.submit && (now.Start == was.End || now.End == was.Start):
		s.join(was, &now)
		take = true
	case newer:
		s.lose(was)
	default:
		s.lose(&now)
	}
	if row.job.Submit > h.latest || row.job.Submit == h.latest && take {
		h.latest, h.state = row.job.Submit, now.State
	}
	if take {
		h.submit, h.started, h.job = row.job.Submit, row.started, now
	}
	h.job.Submit, h.job.Eligible = first, eligible
}

// firstEligible returns the eligible time of the attempt with the earlier submit, of two rows of one
// attempt that of the row that has one.
func firstEligible(was, now *capcli.Job) capcli.Time {
	if now.Submit < was.Submit || now.Submit == was.Submit && now.Eligible.IsKnown() {
		return now.Eligible
	}
	return was.Eligible
}

// join sets now to one run made of two pieces, of which one starts when the other ends. sacct
// writes such pieces for a job that was resized, or cut by sacct -T. The resources are those
// of the later piece.
func (s *sacct) join(was, now *capcli.Job) {
	s.r.Assume("recorded in consecutive pieces: joined")
	early, late := *was, *now
	if late.Start < early.Start {
		early, late = late, early
	}
	*now = late
	now.Start, now.Run = early.Start, early.Run+late.Run
}

// lose counts the GPU time of an attempt that a later one replaces.
func (s *sacct) lose(job *capcli.Job) {
	s.lostN++
	s.lost += job.Work()
}

// release yields a held job, or rejects it if it never started. It reports whether reading
// goes on.
func (s *sacct) release(h *slurmJob) bool {
	h.job.State = h.state
	switch {
	case !h.started && s.now && (h.job.Limit > 0 || s.r.o.Waits != nil):
		h.job.Run = h.job.Limit
		s.r.Assume("waiting now: run time taken as its limit")
		return s.r.Keep(h.line, h.raw, &h.job)
	case !h.started && s.now:
		return s.r.Reject(h.line, h.raw, "waiting now, without a limit: run time unknown")
	case !h.started && h.state == "PENDING":
		return s.r.Reject(h.line, h.raw, "pending: not started yet")
	case !h.started:
		return s.r.Reject(h.line, h.raw, "never started")
	}
	if strings.IndexByte(h.job.ID, '+') > 0 {
		s.r.Assume("component of a heterogeneous job: read as a job of its own")
	}
	if !h.job.End.IsKnown() && !s.now {
		s.r.Assume("still running: run time up to the dump")
	}
	return s.r.Keep(h.line, h.raw, &h.job)
}

// drain releases all held jobs, oldest first, and notes the replaced attempts.
func (s *sacct) drain() error {
	if s.r.stopped {
		return nil
	}
	for i := range s.ring {
		if !s.release(&s.ring[(s.oldest+i)%len(s.ring)]) {
			return nil
		}
	}
	if s.lostN > 0 {
		s.r.Note(fmt.Sprintf("attempts before a requeue, folded into their jobs: %d, which held %.1f GPU-hours", s.lostN, s.lost.Hours()))
	}
	return nil
}
