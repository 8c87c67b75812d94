// Package eta estimates when jobs start. It learns from a log's own past.
//
// [Predict] goes through a log in order of submission. For each job it uses what was known at that
// moment and nothing later: the jobs that ran and waited, the starts and ends before it. It returns
// an estimate, a range that holds the wait with a chance of 80 %, and the chance of over an hour.
//
// The steps:
//   - [Forward] plays the recorded queue forward under EASY, with the limits that users gave and with
//     runs predicted from the tenant's last two (Tsafrir, Etsion, Feitelson 2007).
//   - A quantile regression forest (Meinshausen 2006) learns from the jobs that have started how
//     waits depend on these two answers and on the state of the queue.
//   - The ranges are corrected as outcomes come in (Gibbs and Candès 2021), so that they hold what
//     they say also among jobs that wait.
//
// Why it is so: a replay alone is wrong where the scheduler has holds, limits and priorities that
// the log does not record, and the mean of recent waits is wrong where the queue has changed. The
// forest uses each where it was right before.
package eta
