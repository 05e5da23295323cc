// Package lane answers the calls of one busy path without the costs of a
// general server. It reads plain calls only; a connection on which anything
// else arrives is handed to net/http, from the first byte that was not
// answered. So net/http stays the one server that knows all of HTTP. A lane,
// here, is the fast way for plain calls.
package lane
