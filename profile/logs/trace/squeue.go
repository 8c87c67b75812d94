package trace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"capcli"
)

// NodesTable is the table of a cluster's nodes, as nodes_file of a scenario and --capacity read it.
const NodesTable = "nodes"

func init() {
	Formats.Add("squeue", "Slurm as it is now: squeue as text with SUBMIT_TIME, or --json; beside it sinfo, as text with GRES or --json",
		Format{Sniff: sniffNow, Read: readNow, Several: true, Tagged: true, Tables: []string{NodesTable}})
}

// squeueHint is how to print what readQueue reads.
const squeueHint = "print it with: SLURM_TIME_FORMAT=%s squeue -o '%i|%T|%u|%a|%P|%V|%S|%l|%M|%D|%C|%b|%Q|%N|%r', or squeue --json"

func sniffNow(head []byte) bool { return sniffSqueue(head) || sniffSinfo(head) }

// sniffSqueue reports whether head is what squeue printed. Its header is in capitals; sacct's is not.
func sniffSqueue(head []byte) bool {
	if text := beginsJSON(head); len(text) > 0 && text[0] == '{' {
		return bytes.Contains(text, []byte(`"job_state"`)) && bytes.Contains(text, []byte(`"submit_time"`))
	}
	cols := wordsOf(head)
	return cols["JOBID"] && (cols["ST"] || cols["STATE"]) &&
		(cols["TIME"] || cols["TIME_LIMIT"] || cols["TIME_LEFT"] || cols["SUBMIT_TIME"] || cols["START_TIME"] || cols["REASON"] || cols["NODELIST(REASON)"])
}

// wordsOf returns the names in the first line of head that is not blank, separated by | or by blanks.
func wordsOf(head []byte) map[string]bool {
	line, _, _ := bytes.Cut(bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), "\r\n"), []byte{'\n'})
	cols := map[string]bool{}
	for _, w := range splitColumns(line, columnSeparator(line)) {
		cols[string(w)] = true
	}
	return cols
}

// columnSeparator returns the separator in a header, 0 for blanks.
func columnSeparator(line []byte) byte {
	for _, sep := range []byte("|\x1f,;\t") {
		if bytes.IndexByte(line, sep) >= 0 {
			return sep
		}
	}
	return 0
}

// splitColumns returns the cells of a line, trimmed. A separator of 0 is any number of blanks.
func splitColumns(line []byte, sep byte) [][]byte {
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if sep == 0 {
		return bytes.Fields(line)
	}
	cells := bytes.Split(line, []byte{sep})
	for i := range cells {
		cells[i] = trim(cells[i])
	}
	return cells
}

// readNow reads what squeue and sinfo printed, in any order.
func readNow(r *Reader) error {
	q, err := newQueue(r)
	if err != nil {
		return err
	}
	c := &nodeList{r: r, seen: map[string]bool{}}
	ins := []*Reader{r}
	for _, in := range r.o.More {
		more := newReader(in, r.o)
		if err := more.unpack(); err != nil {
			return err
		}
		ins = append(ins, more)
	}
	for _, in := range ins {
		head := in.text.Head(HeadBytes)
		switch {
		case sniffSqueue(head):
			err = q.read(in, head)
		case sniffSinfo(head):
			err = c.read(in, head)
		default:
			err = in.fault(1, "", "neither what squeue nor what sinfo prints: it begins with "+strconv.Quote(shorten(firstLine(head))), squeueHint+"; sinfo -N -o '%N|%c|%m|%G|%t'")
		}
		if err == nil && in != r {
			err = in.endError()
		}
		if err != nil || r.stopped {
			return err
		}
	}
	c.tell()
	return q.s.drain()
}

func firstLine(head []byte) []byte {
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	return line
}

// queueFields are the fields of sacct that a job of squeue is read as.
var queueFields = []string{
	"JobID", "User", "Account", "Partition", "State", "Submit", "Eligible", "Start", "ElapsedRaw", "Timelimit", "Priority",
	"NNodes", "NodeList", "NCPUS", "ReqTRES", "ReqGRES", "ReqMem",
}

// queuedJob is a job of squeue. Texts are as squeue prints them.
type queuedJob struct {
	id, user, account, partition, state, submit, eligible, start, end, used, limit, priority string
	nodes, nodeList, cpus, tres, perNode, perJob, perTask, tasks, mem, reason                string
}

// queue reads jobs of squeue.
type queue struct {
	r *Reader
	t *table
	s *sacct
}

func newQueue(r *Reader) (*queue, error) {
	t := &table{r: r, Fields: capcli.Fields{Separator: '|', Bare: true}, names: queueFields}
	s, err := newSacct(r, t)
	if err != nil {
		return nil, err
	}
	s.now = true
	return &queue{r, t, s}, nil
}

func (q *queue) read(in *Reader, head []byte) error {
	if text := beginsJSON(head); len(text) > 0 && text[0] == '{' {
		return in.eachObject("jobs", "squeue --json", func(raw []byte, line int) (bool, error) {
			var j liveJob
			if !unicodeJSON(raw) {
				return q.r.Reject(line, raw, "not valid UTF-8"), nil
			}
			if err := json.Unmarshal(raw, &j); err != nil {
				return q.r.Reject(line, raw, jsonFlaw(err)), nil
			}
			return q.add(j.queued(), line, raw)
		}, func() error { return nil })
	}
	var names []string
	sep := byte(0)
	for {
		line, n, ok := in.Line()
		switch {
		case !ok:
			return nil
		case len(trim(line)) == 0:
			continue
		case names == nil:
			sep = columnSeparator(line)
			for _, name := range splitColumns(line, sep) {
				names = append(names, string(name))
			}
			if capcli.FindColumn(names, "SUBMIT_TIME") < 0 {
				return in.fault(n, "", "the listing of squeue lacks SUBMIT_TIME; it has "+strings.Join(capcli.Abridge(names, 20), ", "), squeueHint)
			}
			if q.r.o.Waits != nil && capcli.FindColumn(names, "TRES_ALLOC", "TRES", "TRES_PER_NODE", "GRES", "TRES_PER_JOB", "TRES_PER_TASK") < 0 {
				return in.fault(n, "", "the listing of squeue has no column of GPUs; it has "+strings.Join(capcli.Abridge(names, 20), ", "), squeueHint)
			}
			continue
		}
		more, err := q.line(names, sep, line, n)
		if err != nil || !more {
			return err
		}
	}
}

// line adds the job of a line of text. In a listing with blanks between the cells the last cell may have some,
// and may be missing.
func (q *queue) line(names []string, sep byte, line []byte, n int) (bool, error) {
	cells := splitColumns(line, sep)
	if sep == 0 && len(cells) > len(names) {
		last := bytes.Join(cells[len(names)-1:], []byte{' '})
		cells = append(cells[:len(names)-1:len(names)-1], last)
	}
	if sep == 0 && len(cells) == len(names)-1 && strings.HasPrefix(names[len(names)-1], "NODELIST") {
		cells = append(cells, nil)
	}
	if len(cells) != len(names) {
		return q.r.Reject(n, line, fmt.Sprintf("%d columns, the header has %d", len(cells), len(names))), nil
	}
	cell := func(options ...string) string {
		at := capcli.FindColumn(names, options...)
		if at < 0 {
			return ""
		}
		switch text := string(cells[at]); text {
		case "N/A", "(null)", "None", "NOT_SET", "INVALID":
			return ""
		default:
			return text
		}
	}
	return q.add(queuedJob{
		id: cell("JOBID"), user: cell("USER"), account: cell("ACCOUNT"), partition: cell("PARTITION"), state: cell("STATE", "ST"),
		submit: cell("SUBMIT_TIME"), eligible: cell("ELIGIBLE_TIME"), start: cell("START_TIME"), end: cell("END_TIME"), used: cell("TIME", "TIME_USED"),
		limit: cell("TIME_LIMIT", "TIMELIMIT"), priority: cell("PRIORITY"), nodes: cell("NODES"), nodeList: cell("NODELIST", "NODELIST(REASON)"),
		cpus: cell("CPUS"), tres: cell("TRES_ALLOC", "TRES"), perNode: cell("TRES_PER_NODE", "GRES"), perJob: cell("TRES_PER_JOB"),
		perTask: cell("TRES_PER_TASK"), tasks: cell("TASKS", "NTASKS"), mem: cell("MIN_MEMORY"), reason: cell("REASON", "NODELIST(REASON)"),
	}, n, line)
}

// compactStates are the states by squeue's short names.
var compactStates = map[string]string{
	"PD": "PENDING", "R": "RUNNING", "CG": "COMPLETING", "CF": "CONFIGURING", "S": "SUSPENDED", "ST": "STOPPED", "SO": "STAGE_OUT",
	"CD": "COMPLETED", "CA": "CANCELLED", "F": "FAILED", "TO": "TIMEOUT", "NF": "NODE_FAIL", "PR": "PREEMPTED", "OOM": "OUT_OF_MEMORY",
	"BF": "BOOT_FAIL", "DL": "DEADLINE", "RQ": "REQUEUED", "RS": "RESIZING", "RV": "REVOKED", "SI": "SIGNALING", "SE": "SPECIAL_EXIT",
	"RD": "RESV_DEL_HOLD", "RF": "REQUEUE_FED", "RH": "REQUEUE_HOLD",
}

// mostTasks is the most tasks of one array that wait.
const mostTasks = 1_000_000

// add adds a job, or each waiting task of an array.
func (q *queue) add(j queuedJob, line int, raw []byte) (bool, error) {
	if long, ok := compactStates[j.state]; ok {
		j.state = long
	}
	ids := []string{j.id}
	if head, list, ok := strings.Cut(j.id, "_["); ok {
		list, _, _ = strings.Cut(strings.TrimSuffix(list, "]"), "%")
		tasks, ok := expandRange(list, mostTasks)
		if !ok {
			return q.r.Reject(line, raw, "JOBID: not the tasks of an array, or over a million"), nil
		}
		ids = ids[:0]
		for _, t := range tasks {
			ids = append(ids, head+"_"+t)
		}
		if len(ids) > 1 {
			q.r.Assume("waiting tasks of an array: each read as a job")
		}
	}
	if j.state != "PENDING" && j.start == "" {
		return q.r.Reject(line, raw, "START_TIME: missing of a job that runs"), nil
	}
	if j.limit == "" { // squeue shows when the job would reach its limit
		from, bad1 := q.s.clock.read([]byte(j.start))
		to, bad2 := q.s.clock.read([]byte(j.end))
		if bad1 == flawless && bad2 == flawless && from.at.IsKnown() && to.at > from.at {
			j.limit = fmt.Sprintf("0:%02d:%02d", (to.at-from.at)/60, (to.at-from.at)%60)
		}
	}
	q.tellMoment(&j)
	cells := j.cells(q.r)
	for _, id := range ids {
		if q.r.o.Waits != nil && j.state == "PENDING" {
			q.r.o.Waits(id, strings.Trim(j.reason, "()"))
		}
		cells[0] = []byte(id)
		q.t.line, q.t.Raw, q.t.Row = line, raw, cells
		if more, err := q.s.row(); err != nil || !more {
			return more, err
		}
	}
	return true, nil
}

// tellMoment notes when the listing was printed: a job that runs has started so long ago as it has run. squeue counts
// no time in which a job was suspended, so the latest of all jobs is taken.
func (q *queue) tellMoment(j *queuedJob) {
	start, bad := q.s.clock.read([]byte(j.start))
	used, worse := slurmLength([]byte(j.used))
	if j.state == "RUNNING" && bad == flawless && worse == flawless && start.at.IsKnown() {
		q.r.rep.AsOf = max(q.r.rep.AsOf, start.at+capcli.Time(used))
	}
}

func (j *queuedJob) cells(r *Reader) [][]byte {
	elapsed, start := "", j.start
	limit, bad := slurmLength([]byte(j.limit))
	switch {
	case j.state == "PENDING": // squeue shows when it expects to start it
		start = ""
	case bad == flawless && limit > 0:
		elapsed = strconv.FormatInt(int64(limit), 10)
		r.Assume("running now: run time taken as its limit")
	default:
		if used, bad := slurmLength([]byte(j.used)); bad == flawless {
			elapsed = strconv.FormatInt(int64(used), 10)
			r.Assume("running now, without a limit: run time up to now")
		}
	}
	tres, perNode := j.tres, j.perNode
	if perNode == "" && tres == "" {
		nodes, _ := count([]byte(j.tasks))
		switch {
		case j.perJob != "":
			tres = timesGRES(j.perJob, 1)
		case j.perTask != "":
			tres = timesGRES(j.perTask, max(nodes, 1))
		}
	}
	priority := j.priority
	if strings.Contains(priority, ".") { // a share of the highest priority says nothing of others
		priority = ""
	}
	var out [][]byte
	for _, text := range []string{
		j.id, j.user, j.account, j.partition, j.state, j.submit, j.eligible, start, elapsed, j.limit, priority,
		j.nodes, j.nodeList, j.cpus, tres, perNode, j.mem,
	} {
		out = append(out, []byte(text))
	}
	return out
}

// timesGRES returns n times the GPUs of a GRES list, as TRES.
func timesGRES(list string, n int64) string {
	t, bad := parseGRES([]byte(list))
	if bad != flawless || t.gpus == 0 || t.gpus > maxGPUs {
		return ""
	}
	name := "gres/gpu"
	if t.model != "" {
		name += ":" + t.model
	}
	return fmt.Sprintf("%s=%d", name, min(t.gpus*n, 10*maxGPUs))
}

// expandRange returns the numbers of 0-4,7,10-20:5 as texts, with their leading zeros; ok is false where it is
// none, or where there are over most.
func expandRange(list string, most int) (out []string, ok bool) {
	for part := range strings.SplitSeq(list, ",") {
		part, stepText, stepped := strings.Cut(part, ":")
		low, high, ranged := strings.Cut(part, "-")
		if !ranged {
			high = low
		}
		a, ok1 := Digits([]byte(low))
		b, ok2 := Digits([]byte(high))
		step := 1
		if stepped {
			if step, ok1 = Digits([]byte(stepText)); step < 1 {
				return nil, false
			}
		}
		if !ok1 || !ok2 || len(high) > 9 || len(low) > 9 || b < a || (b-a)/step >= most-len(out) {
			return nil, false
		}
		for v := a; v <= b; v += step {
			out = append(out, fmt.Sprintf("%0*d", len(low), v))
		}
	}
	return out, len(out) > 0
}

// liveJob is a job as squeue --json prints it.
type liveJob struct {
	ID        slurmNumber `json:"job_id"`
	State     slurmWords  `json:"job_state"`
	User      string      `json:"user_name"`
	Account   string      `json:"account"`
	Partition string      `json:"partition"`
	Submit    slurmNumber `json:"submit_time"`
	Eligible  slurmNumber `json:"eligible_time"`
	Start     slurmNumber `json:"start_time"`
	Limit     slurmNumber `json:"time_limit"`
	Priority  slurmNumber `json:"priority"`
	Nodes     slurmNumber `json:"node_count"`
	NodeList  string      `json:"nodes"`
	CPUs      slurmNumber `json:"cpus"`
	Alloc     string      `json:"tres_alloc_str"`
	Req       string      `json:"tres_req_str"`
	PerNode   string      `json:"tres_per_node"`
	ArrayID   slurmNumber `json:"array_job_id"`
	TaskID    slurmNumber `json:"array_task_id"`
	Tasks     string      `json:"array_task_string"`
	HetID     slurmNumber `json:"het_job_id"`
	HetOffset slurmNumber `json:"het_job_offset"`
	Reason    string      `json:"state_reason"`
}

// queued returns j in the texts of squeue.
func (j *liveJob) queued() queuedJob {
	text := func(n slurmNumber) string {
		if n.n == 0 {
			return ""
		}
		return string(n.append(nil))
	}
	out := queuedJob{
		id: text(j.ID), user: j.User, account: j.Account, partition: j.Partition, state: string(j.State), submit: text(j.Submit),
		eligible: text(j.Eligible), start: text(j.Start), priority: text(j.Priority), nodes: text(j.Nodes), nodeList: j.NodeList,
		cpus: text(j.CPUs), tres: j.Alloc, perNode: j.PerNode, reason: j.Reason,
	}
	out.tres = cmp.Or(out.tres, j.Req)
	if j.Limit.isKnown && j.Limit.n > 0 {
		out.limit = fmt.Sprintf("%d:00", min(j.Limit.n, 999_999)) // minutes
	}
	switch {
	case j.HetID.n > 0:
		out.id = fmt.Sprintf("%d+%d", j.HetID.n, j.HetOffset.n)
	case j.ArrayID.n > 0 && j.Tasks != "":
		out.id = fmt.Sprintf("%d_[%s]", j.ArrayID.n, strings.Trim(j.Tasks, "[]"))
	case j.ArrayID.n > 0 && j.TaskID.isKnown:
		out.id = fmt.Sprintf("%d_%d", j.ArrayID.n, j.TaskID.n)
	}
	return out
}
