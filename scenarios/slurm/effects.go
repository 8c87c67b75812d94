package slurm

import "strings"

// usedSettings are the settings of slurm.conf that priorities, scheduling or the scenario go by.
const usedSettings = "priorityweightage priorityweightassoc priorityweightfairshare priorityweightjobsize priorityweightpartition priorityweightqos priorityweighttres " +
	"prioritymaxage prioritydecayhalflife prioritycalcperiod priorityflags priorityfavorsmall prioritytype fairsharedampeningfactor " +
	"schedulertype schedulerparameters preempttype preemptmode preemptexempttime defmempercpu overtimelimit authinfo accountingstorageenforce clustername"

// effects say what ignoring a setting or a column may change, by how its name begins in lower case. The
// first that fits counts.
var effects = []struct{ begins, effect string }{
	{"priorityusagereset", "fair share after the next reset of usage"},
	{"prioritysite", "the site factor of priorities"},
	{"grptresmins grptresrunmins maxtresmins grpwall", "starts of jobs near this limit"},
	{"usagethres", "jobs refused by a low share"},
	{"gracetime", "how long a preempted job may go on"},
	{"maxsubmit grpsubmit mintres maxwall maxnodes enforcepartlimits maxjobcount maxarraysize", "jobs refused at submission: the log has those that were taken"},
	{"grpjobsaccrue maxjobsaccrue", "when waiting adds to age; scontrol show job has AccrueTime"},
	{"maxtrespernode", "jobs refused or held by this limit"},
	{"licenses", "starts of jobs that wait for licences"},
	{"topology lln", "on which nodes jobs start"},
	{"selecttype", "nothing, where it is select/cons_tres with CR_Core or CR_CPU, and memory"},
	{"allow deny qos", "who may submit: the log has the jobs that were taken"},
	{"exclusiveuser oversubscribe", "starts that share CPUs, or keep nodes whole"},
	{"maxcpuspernode maxmempernode", "starts of jobs beyond it"},
	{"suspend resume", "starts on nodes that were powered down"},
	{"state", "starts on nodes that are drained or down; a play has the drains of its events"},
	{"jobsubmitplugins", "what jobs ask for; the log has what came of it"},
	{"completewait", "starts just after the end of others"},
	{"killwait", "how long jobs go on after their limit"},
	{"epilog", "how long nodes stay busy after a job"},
	{"prolog", "how long a job takes to begin"},
	{"federation", "jobs of other clusters"},
	{"def", "what jobs ask for; scontrol show job has it"},
}

// effectOf returns what ignoring a setting or a column may change.
func effectOf(key string) string {
	for _, e := range effects {
		for begin := range strings.FieldsSeq(e.begins) {
			if strings.HasPrefix(key, begin) {
				return e.effect
			}
		}
	}
	return "nothing that starts or orders jobs"
}
