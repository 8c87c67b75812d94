package trace

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"capcli"
)

// guessRows is how many rows a guess looks at.
const guessRows = 400

// xdmodFields are the columns of the dumps that Open XDMoD reads, which have no header (Open XDMoD, "Slurm").
const xdmodFields = "JobID,JobIDRaw,Cluster,Partition,QOS,Account,Group,GID,User,UID,Submit,Eligible,Start,End,Elapsed,ExitCode," +
	"State,NNodes,NCPUS,ReqCPUS,ReqMem,ReqTRES,AllocTRES,Timelimit,NodeList,JobName"

// slurmStates are the states of jobs in Slurm's records.
var slurmStates = strings.Fields("COMPLETED FAILED CANCELLED TIMEOUT NODE_FAIL PREEMPTED OUT_OF_MEMORY DEADLINE BOOT_FAIL PENDING RUNNING SUSPENDED REQUEUED RESIZING REVOKED")

// What the cells of a column look like.
var (
	looksID     = regexp.MustCompile(`^[0-9]+(_([0-9]+|\[[0-9,%:-]+\])|\+[0-9]+)?(\.[A-Za-z0-9+]+)?$`)
	looksLength = regexp.MustCompile(`^([0-9]+-)?[0-9]{1,2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?$`)
	looksNumber = regexp.MustCompile(`^[0-9]+$`)
	looksTRES   = regexp.MustCompile(`(^|,)(cpu|mem|node|billing|gres/[a-z]+)=`)
)

// guess is a guess of the columns of a dump without a header.
type guess struct {
	rows  [][][]byte // of jobs, without steps
	names []string
	clock clock
}

// guessColumns returns the names of the columns of a sacct dump without a header, told from its first rows, and
// nil where they cannot be told. Columns that it does not know are called column 1 and so on.
func guessColumns(head []byte) []string {
	g := guess{clock: clock{zone: time.UTC}}
	if !g.split(head) {
		return nil
	}
	if xdmod := strings.Split(xdmodFields, ","); len(g.names) == len(xdmod) && g.fits(xdmod) {
		return xdmod
	}
	id := g.find(func(b []byte) bool { return looksID.Match(b) }, 0)
	state := g.find(func(b []byte) bool { return slices.Contains(slurmStates, string(stateWord(b))) }, 0)
	if id < 0 || state < 0 || !g.times() {
		return nil
	}
	g.names[id], g.names[state] = "JobID", "State"
	g.lengths()
	if !g.tres() {
		return nil
	}
	return g.names
}

// split splits the first rows. It fails where they are no table with | or the unit separator.
func (g *guess) split(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	lines := bytes.Split(head, []byte{'\n'})
	if len(lines) > 1 {
		lines = lines[:len(lines)-1] // the last may be cut
	}
	sep := byte('|')
	if bytes.IndexByte(lines[0], 0x1f) >= 0 {
		sep = 0x1f
	}
	for _, line := range lines {
		row := bytes.Split(bytes.TrimSuffix(line, []byte{'\r'}), []byte{sep})
		if g.names == nil {
			if len(row) < 5 || len(row) > 200 {
				return false
			}
			g.names = make([]string, len(row))
			for i := range row {
				g.names[i] = fmt.Sprintf("column %d", i+1)
			}
		}
		if len(row) != len(g.names) || len(g.rows) == guessRows {
			continue
		}
		if id := trim(row[0]); bytes.IndexByte(id, '.') < 0 {
			g.rows = append(g.rows, row)
		}
	}
	return len(g.rows) > 0
}

// fits reports whether the ids, times and states of the rows are where names say.
func (g *guess) fits(names []string) bool {
	at := func(name string) int { return slices.Index(names, name) }
	ok := g.share(at("JobID"), looksID.Match) == 1 && g.share(at("Elapsed"), looksLength.Match) > 0.9
	for _, name := range []string{"Submit", "Start", "End"} {
		ok = ok && g.share(at(name), g.isTime) == 1
	}
	return ok && g.share(at("State"), func(b []byte) bool { return slices.Contains(slurmStates, string(stateWord(b))) }) == 1
}

// isTime reports whether b is a time as sacct prints it: ISO 8601, or seconds since 2001.
func (g *guess) isTime(b []byte) bool {
	b = blankIfUnknown(b)
	if len(b) == 0 {
		return true
	}
	m, bad := g.clock.read(b)
	return bad == flawless && (len(b) >= 19 || len(b) == 10) && m.at > 1e9
}

// share returns the share of the cells of a column that look so; empty cells do not count.
func (g *guess) share(col int, looks func([]byte) bool) float64 {
	n, hits := 0, 0
	for _, row := range g.rows {
		cell := trim(row[col])
		if len(cell) == 0 {
			continue
		}
		if n++; looks(cell) {
			hits++
		}
	}
	return float64(hits) / float64(max(n, 1))
}

// find returns the first column from a place on that is not named and whose cells all look so, or -1.
func (g *guess) find(looks func([]byte) bool, from int) int {
	for col := from; col < len(g.names); col++ {
		if strings.HasPrefix(g.names[col], "column ") && g.share(col, looks) == 1 {
			return col
		}
	}
	return -1
}

// times names the columns of times: in each row Submit is not after Eligible, that not after Start, and that not
// after End. Two columns that never differ keep their order.
func (g *guess) times() bool {
	var cols []int
	for col := range g.names {
		if g.share(col, g.isTime) == 1 && g.share(col, func(b []byte) bool { return len(blankIfUnknown(b)) > 0 }) > 0 {
			cols = append(cols, col)
		}
	}
	slices.SortStableFunc(cols, func(a, b int) int {
		order := 0
		for _, row := range g.rows {
			x, _ := g.clock.read(blankIfUnknown(trim(row[a])))
			y, _ := g.clock.read(blankIfUnknown(trim(row[b])))
			switch {
			case !x.at.IsKnown() || !y.at.IsKnown():
			case x.at < y.at:
				order--
			case x.at > y.at:
				order++
			}
		}
		return order
	})
	var names []string
	switch len(cols) {
	case 3:
		names = []string{"Submit", "Start", "End"}
	case 4:
		names = []string{"Submit", "Eligible", "Start", "End"}
	default:
		return false
	}
	for i, col := range cols {
		g.names[col] = names[i]
	}
	return true
}

// lengths names the columns Elapsed or ElapsedRaw, which is the time from Start to End, and Timelimit, which has
// whole minutes.
func (g *guess) lengths() {
	start, end := slices.Index(g.names, "Start"), slices.Index(g.names, "End")
	for col, name := range g.names {
		if !strings.HasPrefix(name, "column ") {
			continue
		}
		n, same := 0, 0
		for _, row := range g.rows {
			from, _ := g.clock.read(blankIfUnknown(trim(row[start])))
			to, _ := g.clock.read(blankIfUnknown(trim(row[end])))
			length, bad := slurmLength(trim(row[col]))
			if looksNumber.Match(trim(row[col])) {
				seconds, _, flaw := fixed(row[col], 1)
				length, bad = capcli.Seconds(seconds), flaw
			}
			if !from.at.IsKnown() || !to.at.IsKnown() || bad != flawless || to.at <= from.at {
				continue
			}
			if n++; int64(length) == int64(to.at-from.at) {
				same++
			}
		}
		switch {
		case n > 0 && same*10 >= n*9 && g.share(col, looksNumber.Match) == 1:
			g.names[col] = "ElapsedRaw"
		case n > 0 && same*10 >= n*9:
			g.names[col] = "Elapsed"
		case g.share(col, func(b []byte) bool {
			return looksLength.Match(b) && bytes.HasSuffix(b, []byte(":00")) || string(b) == "UNLIMITED" || string(b) == "Partition_Limit"
		}) == 1 && g.share(col, func(b []byte) bool { return string(b) != "00:00:00" }) > 0 && !slices.Contains(g.names, "Timelimit"):
			g.names[col] = "Timelimit"
		}
	}
}

// tres names the columns of resources: AllocTRES is the one that is empty where a job did not start, else the
// last.
func (g *guess) tres() bool {
	start := slices.Index(g.names, "Start")
	var cols []int
	for col := g.find(looksTRES.Match, 0); col >= 0; col = g.find(looksTRES.Match, col+1) {
		if g.share(col, func([]byte) bool { return true }) > 0 {
			cols = append(cols, col)
		}
	}
	if len(cols) == 0 || len(cols) > 2 {
		return false
	}
	alloc := cols[len(cols)-1]
	for _, row := range g.rows {
		if len(cols) == 2 && len(blankIfUnknown(trim(row[start]))) == 0 && len(row[cols[0]]) == 0 && len(row[cols[1]]) > 0 {
			alloc = cols[0]
		}
	}
	for _, col := range cols {
		g.names[col] = "ReqTRES"
	}
	g.names[alloc] = "AllocTRES"
	return true
}

// noteGuess says which columns were guessed.
func (r *Reader) noteGuess(names []string) {
	var known []string
	for i, n := range names {
		if !strings.HasPrefix(n, "column ") {
			known = append(known, fmt.Sprintf("%d %s", i+1, n))
		}
	}
	r.Note("the dump has no header; its columns were guessed: " + strings.Join(known, ", ") + "; --read columns= names all of them, as given to sacct --format")
}
