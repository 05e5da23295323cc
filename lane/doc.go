// Package lane answers the calls of one busy path without the costs of a
// general server. It reads plain calls only; a connection on which anything
// else arrives is handed to net/http, from the first byte that was not answered.
// So there is one server that knows all of HTTP, and this is not it.
package lane
