package trace

import (
	"bytes"
	"fmt"
	"strings"

	"capcli"
)

// sacctCols are the indices in the header of the fields that are read; -1 is a missing field.
type sacctCols struct {
	id, rawID, cluster                 int
	tenant, user                       int
	partition, class, state            int
	submit, start, end, eligible       int
	elapsedRaw, elapsed                int
	limitRaw, limit, priority          int
	allocTRES, reqTRES                 int
	allocGRES, reqGRES                 int
	allocCPUs, reqMem, nodes, nodeList int
	cpus                               int
	dependency, submitLine, name       int
}

// findSacctCols finds the fields in the header. It fails where a required field is missing.
func findSacctCols(t *table) (c sacctCols, err error) {
	c = sacctCols{
		id: t.col("JobID", "JobIDRaw"), rawID: t.col("JobIDRaw"), cluster: t.col("Cluster"),
		tenant: t.col("Account"), user: t.col("User"), partition: t.col("Partition"), class: -1, state: t.col("State"),
		submit: t.col("Submit"), start: t.col("Start"), end: t.col("End"), eligible: t.col("Eligible"),
		elapsedRaw: t.col("ElapsedRaw"), elapsed: t.col("Elapsed"),
		limitRaw: t.col("TimelimitRaw"), limit: t.col("Timelimit"), priority: t.col("Priority"),
		allocTRES: t.col("AllocTRES"), reqTRES: t.col("ReqTRES"),
		allocGRES: t.col("AllocGRES"), reqGRES: t.col("ReqGRES"),
		allocCPUs: t.col("AllocCPUS"), cpus: t.col("AllocCPUS", "NCPUS", "ReqCPUS"),
		dependency: t.col("Dependency"), submitLine: t.col("SubmitLine"), name: t.col("JobName"),
		reqMem: t.col("ReqMem"), nodes: t.col("AllocNodes", "NNodes"), nodeList: t.col("NodeList"),
	}
	var gone []string
	for _, need := range []struct {
		have bool
		name string
	}{
		{c.id >= 0, "JobID (or JobIDRaw)"},
		{c.submit >= 0, "Submit"},
		{c.start >= 0, "Start"},
		{c.end >= 0 || c.elapsedRaw >= 0 || c.elapsed >= 0, "End (or ElapsedRaw or Elapsed)"},
		{c.allocTRES >= 0 || c.reqTRES >= 0 || c.allocGRES >= 0 || c.reqGRES >= 0 || c.cpus >= 0, "AllocTRES (or ReqTRES, AllocGRES or AllocCPUS)"},
	} {
		if !need.have {
			gone = append(gone, need.name)
		}
	}
	if gone != nil {
		return c, t.r.fault(t.line, "", fmt.Sprintf("the sacct header lacks %s; it has %s", strings.Join(gone, ", "), t.headerText()),
			"export again: SLURM_TIME_FORMAT=%s sacct -a -D -X -P --format="+sacctFields)
	}
	if c.allocTRES < 0 && c.reqTRES < 0 && c.allocGRES < 0 && c.reqGRES < 0 {
		t.r.Note("no column has GPUs (AllocTRES, ReqTRES, AllocGRES): every job is read as a CPU job")
	}
	return c, t.sacctMap(&c)
}

// sacctFields are the fields of an export, as hints recommend it.
const sacctFields = "JobID,JobIDRaw,User,Account,Partition,State,Submit,Eligible,Start,End,ElapsedRaw,TimelimitRaw,AllocTRES,ReqTRES,AllocNodes,NodeList,Priority"

// sacctMap sets the fields of tenant, partition and class to those that Options.Map names. It
// fails for a field that the header lacks.
func (t *table) sacctMap(c *sacctCols) error {
	for _, choice := range []struct {
		ours string
		to   *int
	}{{"tenant", &c.tenant}, {"partition", &c.partition}, {"class", &c.class}} {
		theirs, ok := t.r.o.Map[choice.ours]
		if !ok {
			continue
		}
		if *choice.to = t.col(theirs); *choice.to < 0 {
			return t.r.fault(t.line, "", fmt.Sprintf("the header has no column %q, to which %s is mapped; it has %s", theirs, choice.ours, t.headerText()), "correct --map")
		}
	}
	return t.r.checkMap()
}

// slurmRow is one parsed row: an attempt of a job, or the reason why the row is rejected.
type slurmRow struct {
	job     capcli.Job
	started bool
	bad     string // reason for a rejection, or ""
}

// parse parses the current row. It fails where a time has no zone and Options.TZ is nil.
func (s *sacct) parse() (row slurmRow, err error) {
	t, c := s.t, &s.c
	job := &row.job
	job.Deadline = capcli.NoTime
	job.ID = s.last
	job.Tags = t.tags.Row(t.Row)
	job.State = s.names.state.intern(stateWord(t.cell(c.state)))
	if row.bad, err = s.times(job); row.bad != "" || err != nil {
		return row, err
	}
	elapsed, hasElapsed, bad := s.elapsed()
	if bad != "" {
		row.bad = bad
		return row, nil
	}
	if row.bad = s.resources(job); row.bad != "" {
		return row, nil
	}
	row.started = s.hasStarted(job, elapsed)
	switch {
	case !row.started:
		job.Start, job.End = capcli.NoTime, capcli.NoTime
	case hasElapsed:
		job.Run = elapsed
	case job.End.IsKnown():
		job.Run = capcli.Seconds(job.End - job.Start)
	default:
		row.bad = "no end yet, and no ElapsedRaw: run time unknown"
		return row, nil
	}
	if job.Start.IsKnown() && job.End.IsKnown() && job.End < job.Start {
		row.bad = "end before start"
		return row, nil
	}
	job.Limit = s.limit()
	if job.Tenant = s.names.tenant.intern(t.cell(c.tenant)); job.Tenant == "" {
		job.Tenant = s.names.tenant.intern(t.cell(c.user))
	}
	job.Partition = s.names.partition.intern(t.cell(c.partition))
	job.Class = s.names.class.intern(t.cell(c.class))
	s.dependencies(job)
	if n, whole, bad := fixed(t.cell(c.priority), 1); bad == flawless && whole {
		job.Priority = int(n)
	}
	return row, nil
}

// stateWord returns the first word of a state, without a plus at its end: CANCELLED for
// "CANCELLED by 1001".
func stateWord(b []byte) []byte {
	b = trim(b)
	if i := bytes.IndexByte(b, ' '); i >= 0 {
		b = b[:i]
	}
	return bytes.TrimSuffix(b, []byte{'+'})
}

// hasStarted reports whether the attempt held resources. In Slurm's records a job that was
// cancelled while pending may have a Start, and an End equal to it, without any resources.
func (s *sacct) hasStarted(job *capcli.Job, elapsed capcli.Seconds) bool {
	if !job.Start.IsKnown() || job.State == "PENDING" {
		return false
	}
	if s.c.allocTRES >= 0 {
		return len(trim(s.t.cell(s.c.allocTRES))) > 0
	}
	if string(trim(s.t.cell(s.c.nodeList))) == "None assigned" {
		return false
	}
	return elapsed > 0 || !job.End.IsKnown() || job.End > job.Start || job.State != "CANCELLED"
}

// elapsed returns how long the attempt ran, without the time for which it was suspended. ok is
// false where the row does not say it; reason is that for a rejection, or "".
func (s *sacct) elapsed() (length capcli.Seconds, ok bool, reason string) {
	if cell := trim(blankIfUnknown(s.t.cell(s.c.elapsedRaw))); len(cell) > 0 {
		n, _, bad := fixed(cell, 1)
		if bad != flawless {
			return 0, false, "ElapsedRaw: " + string(bad)
		}
		return capcli.Seconds(n), true, ""
	}
	if cell := trim(blankIfUnknown(s.t.cell(s.c.elapsed))); len(cell) > 0 {
		n, bad := slurmLength(cell)
		if bad != flawless {
			return 0, false, "Elapsed: " + string(bad)
		}
		return n, true, ""
	}
	return 0, false, ""
}

// limit returns the time limit of the job; 0 for UNLIMITED, Partition_Limit and the like.
func (s *sacct) limit() capcli.Seconds {
	if n, _, bad := fixed(s.t.cell(s.c.limitRaw), 1); bad == flawless && n > 0 {
		return capcli.Seconds(n) * capcli.Minute
	}
	n, _ := slurmLength(s.t.cell(s.c.limit))
	return n
}

// resources sets the GPUs, CPUs and memory of job: allocated, or requested where none are
// allocated. It returns the reason for a rejection, or "".
func (s *sacct) resources(job *capcli.Job) (reason string) {
	alloc, bad := parseTRES(s.t.cell(s.c.allocTRES))
	if bad != flawless {
		return "AllocTRES: " + string(bad)
	}
	req, bad := parseTRES(s.t.cell(s.c.reqTRES))
	if bad != flawless {
		return "ReqTRES: " + string(bad)
	}
	nodes, _ := count(s.t.cell(s.c.nodes))
	gpu := alloc
	if gpu.gpus == 0 {
		gpu = req
	}
	if gpu.gpus == 0 {
		if gpu, bad = s.gres(max(nodes, 1)); bad != flawless {
			return "AllocGRES: " + string(bad)
		}
	}
	if gpu.gpus > maxGPUs {
		return "gpus: over 10 million"
	}
	job.GPUs = int(gpu.gpus)
	if gpu.gpus > 0 {
		job.GPUModel = s.names.model.intern([]byte(gpu.model))
	}
	if gpu.models > 1 {
		s.r.Assume("GPUs of several models in one job: named by the most frequent")
	}
	if job.CPUMilli = max(alloc.cpu, 0); job.CPUMilli == 0 {
		job.CPUMilli, _ = optional(s.t.cell(s.c.cpus), 1000)
	}
	if job.CPUMilli <= 0 {
		job.CPUMilli = req.cpu
	}
	job.MemMiB = firstPositive(alloc.mem, req.mem, reqMem(s.t.cell(s.c.reqMem), nodes, job.CPUMilli))
	return ""
}

// firstPositive returns the first value over 0, else 0.
func firstPositive(values ...int64) int64 {
	for _, v := range values {
		if v > 0 {
			return v
		}
	}
	return 0
}

// gres returns the GPUs in the GRES fields, for clusters that do not account GPUs as TRES.
// These fields are for one node, so gres multiplies them by nodes.
func (s *sacct) gres(nodes int64) (t tres, bad flaw) {
	for _, col := range []int{s.c.allocGRES, s.c.reqGRES} {
		if t, bad = parseGRES(s.t.cell(col)); bad != flawless || t.gpus > 0 {
			break
		}
	}
	if t.gpus > maxGPUs/nodes {
		return t, "over 10 million"
	}
	t.gpus *= nodes
	return t, bad
}
