// Package lane answers the calls of one busy path without the costs of a general server. It
// reads plain calls only. When anything else arrives on a connection, it hands the connection
// to net/http, with all unanswered bytes. So net/http stays the only server that knows all of
// HTTP.
package lane
